#include "torch_ir/exporter/meta/meta_rules.h"

#include <ATen/EmptyTensor.h>
#include <ATen/OpMathType.h>
#include <ATen/SDPBackend.h>
#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <optional>

#include "torch_ir/exporter/meta/cpu_probe.h"
#include "torch_ir/exporter/meta/meta_kernels.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

using c10::ScalarType;

at::Tensor meta_tensor(c10::IntArrayRef sizes, c10::ScalarType dtype,
                       c10::MemoryFormat format = c10::MemoryFormat::Contiguous) {
  return at::detail::empty_meta(sizes, dtype, format);
}

// Laid out as empty_like would for `source`.
at::Tensor meta_like(const at::Tensor& source) {
  return at::empty_like(source, source.options().device(c10::DeviceType::Meta));
}

at::Tensor shrunk_ones(const at::Tensor& meta) {
  Sizes sizes = meta.sizes().vec();
  for (int64_t& size : sizes) size = size == 0 ? 0 : 1;
  at::Tensor ones =
      at::ones(sizes, at::TensorOptions(c10::DeviceType::CPU).dtype(meta.scalar_type()));
  copy_wrapped_number(meta, ones);
  return ones;
}

// The result dtypes of the CPU kernel, which also checks the argument dtypes: runs it on ones of
// the same dtypes and ranks, with all lengths 1. For operators that accept such a call whenever
// they accept the real one.
std::vector<c10::ScalarType> result_dtypes(const MetaCall& call) {
  std::vector<c10::ScalarType> dtypes;
  for (const c10::IValue& result : call_on_cpu(call.op(), call.arguments(), shrunk_ones)) {
    dtypes.push_back(result.toTensor().scalar_type());
  }
  return dtypes;
}

// The layout that TensorIterator, which all these kernels use, gives to the broadcast inputs: that
// of the first one where they differ.
at::Tensor broadcast(const std::vector<at::Tensor>& inputs, c10::ScalarType dtype) {
  at::TensorIteratorConfig config;
  config.add_owned_output(at::Tensor());
  for (const at::Tensor& input : inputs) config.add_owned_const_input(input);
  config.check_all_same_dtype(false).check_all_same_device(false).declare_static_dtype_and_device(
      dtype, c10::Device(c10::DeviceType::Meta));
  return at::Tensor(config.build().tensor(0));
}

std::vector<at::Tensor> pointwise(const MetaCall& call) {
  std::vector<at::Tensor> results;
  for (c10::ScalarType dtype : result_dtypes(call)) {
    results.push_back(broadcast(call.inputs(), dtype));
  }
  return results;
}

std::vector<at::Tensor> assertion_token(const MetaCall& call) {
  return {meta_like(call.tensor("dep_token"))};
}

std::vector<at::Tensor> nothing(const MetaCall&) { return {}; }

std::vector<at::Tensor> reduction(const MetaCall& call) {
  const bool keeps_dims = call.has("keepdim") && call.flag("keepdim");
  const auto sizes =
      at::meta::get_reduction_shape(call.tensor("self"), call.integers("dim"), keeps_dims);
  std::vector<at::Tensor> results;
  for (c10::ScalarType dtype : result_dtypes(call)) results.push_back(meta_tensor(sizes, dtype));
  return results;
}

std::vector<at::Tensor> index_select(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  const at::Tensor index = call.tensor("index");
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  TORCH_CHECK(index.scalar_type() == ScalarType::Long || index.scalar_type() == ScalarType::Int,
              "index_select(): Expected dtype int32 or int64 for index");
  Sizes sizes = self.sizes().vec();
  const int64_t dim = at::maybe_wrap_dim(call.number("dim"), self.dim());
  TORCH_CHECK(!sizes.empty() || index.numel() == 1,
              "index_select(): Index to scalar can have only ", "1 value, got ", index.numel(),
              " value(s)");
  if (!sizes.empty()) sizes[dim] = index.numel();
  return {meta_tensor(sizes, self.scalar_type())};
}

std::vector<at::Tensor> multinomial(const MetaCall& call) {
  Sizes sizes = call.tensor("self").sizes().vec();
  TORCH_CHECK(sizes.size() == 1 || sizes.size() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(call.tensor("self").is_floating_point(), "multinomial only supports floating-point ",
              "dtypes for input, got: ", call.tensor("self").scalar_type());
  TORCH_CHECK(call.number("num_samples") > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(call.flag("replacement") || call.number("num_samples") <= sizes.back(),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  sizes.back() = call.number("num_samples");
  return {meta_tensor(sizes, ScalarType::Long)};
}

std::vector<at::Tensor> repeat_interleave(const MetaCall& call) {
  TORCH_CHECK_NOT_IMPLEMENTED(call.has("output_size"),
                              "aten::repeat_interleave.Tensor on meta tensors needs its argument "
                              "output_size: without it the size of the result is in the data");
  return {meta_tensor({call.number("output_size")}, call.tensor("repeats").scalar_type())};
}

bool is_channels_last(const at::Tensor& tensor) {
  const c10::MemoryFormat format = tensor.suggest_memory_format();
  return format == c10::MemoryFormat::ChannelsLast || format == c10::MemoryFormat::ChannelsLast3d;
}

// As the CPU's backends choose. In three dimensions oneDNN keeps channels last, and it has no
// kernel for double.
c10::MemoryFormat output_format(const at::Tensor& input, const at::Tensor& weight) {
  if (!is_channels_last(input) && !is_channels_last(weight)) return c10::MemoryFormat::Contiguous;
  if (weight.dim() == 4) return c10::MemoryFormat::ChannelsLast;
  return weight.dim() == 5 && input.scalar_type() != c10::ScalarType::Double
             ? c10::MemoryFormat::ChannelsLast3d
             : c10::MemoryFormat::Contiguous;
}

// LibTorch checks the arguments, unsqueezes one-dimensional convolutions and handles empty inputs;
// only the convolution itself is left to the backend.
std::vector<at::Tensor> convolution(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  const at::Tensor weight = call.tensor("weight");
  TORCH_CHECK(input.scalar_type() == weight.scalar_type() &&
                  (!call.has("bias") || call.tensor("bias").scalar_type() == weight.scalar_type()),
              "convolution: expected an input of the dtype of weight and bias, ",
              weight.scalar_type(), ", but got ", input.scalar_type());
  const size_t rank = input.dim() - 2;
  const Sizes stride = call.integers("stride", rank, 1);
  const Sizes padding = call.integers("padding", rank);
  const Sizes dilation = call.integers("dilation", rank, 1);
  const Sizes sizes =
      call.flag("transposed")
          ? at::native::conv_input_size(input.sizes(), weight.sizes(), padding,
                                        call.integers("output_padding", rank), stride, dilation,
                                        call.number("groups"))
          : at::native::conv_output_size(input.sizes(), weight.sizes(), padding, stride, dilation);
  for (int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "convolution of ", input.sizes(), " with a kernel of ", weight.sizes(),
                " gives a result of negative size ", c10::IntArrayRef(sizes));
  }
  return {meta_tensor(sizes, input.scalar_type(), output_format(input, weight))};
}

// Low precision inputs may come with float parameters; then the statistics are float too.
ScalarType statistics_dtype(const MetaCall& call, ScalarType input) {
  return call.has("weight") ? call.tensor("weight").scalar_type() : input;
}

// Low precision may come with parameters in full precision, but nothing with integers.
void check_dtypes(const MetaCall& call, const at::Tensor& input) {
  TORCH_CHECK(input.is_floating_point(), call.op().operator_name(), ": not implemented for ",
              input.scalar_type());
  if (!call.has("weight")) return;
  const ScalarType weight = call.tensor("weight").scalar_type();
  const bool is_low =
      input.scalar_type() == ScalarType::Half || input.scalar_type() == ScalarType::BFloat16;
  TORCH_CHECK(weight == input.scalar_type() || (is_low && weight == ScalarType::Float),
              call.op().operator_name(), ": expected a weight of dtype ", input.scalar_type(),
              ", as the input, but got ", weight);
}

std::vector<at::Tensor> batch_norm(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  check_dtypes(call, input);
  TORCH_CHECK(input.dim() >= 2, "batch_norm: expected an input of at least 2 dimensions, got ",
              input.dim());
  const Sizes statistics{call.flag("training") ? input.size(1) : 0};
  const ScalarType dtype = statistics_dtype(call, input.scalar_type());
  return {meta_tensor(input.sizes(), input.scalar_type(), input.suggest_memory_format()),
          meta_tensor(statistics, dtype), meta_tensor(statistics, dtype)};
}

std::vector<at::Tensor> layer_norm(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  check_dtypes(call, input);
  const Sizes normalized = call.integers("normalized_shape");
  TORCH_CHECK(!normalized.empty() && input.dim() >= static_cast<int64_t>(normalized.size()) &&
                  input.sizes().slice(input.dim() - normalized.size()) == normalized,
              "Given normalized_shape=", c10::IntArrayRef(normalized),
              ", expected input whose last sizes are these, but got input of size ", input.sizes());
  Sizes statistics = input.sizes().vec();
  std::fill(statistics.end() - normalized.size(), statistics.end(), 1);
  const ScalarType dtype = statistics_dtype(call, input.scalar_type());
  return {meta_tensor(input.sizes(), input.scalar_type()), meta_tensor(statistics, dtype),
          meta_tensor(statistics, dtype)};
}

// The output is laid out as the query; the statistics are computed as [batch, length, heads].
std::vector<at::Tensor> flash_attention(const MetaCall& call) {
  const at::Tensor query = call.tensor("query");
  TORCH_CHECK(query.dim() == 4 && query.size(3) == call.tensor("value").size(3),
              "scaled_dot_product_attention_flash_attention: Q/K/V should have the same head size");
  const auto dtype = at::toOpMathType(query.scalar_type());
  return {meta_like(query),
          meta_tensor({query.size(0), query.size(2), query.size(1)}, dtype).transpose(1, 2)};
}

// Mimics the CPU's choice of kernel: their results have different layouts, and models rely on them
// in view().
std::vector<at::Tensor> attention(const MetaCall& call) {
  ZeroTwins twins;
  const at::Tensor query = call.tensor("query");
  const at::Tensor key = call.tensor("key");
  const at::Tensor value = call.tensor("value");
  const auto mask = call.has("attn_mask") ? std::optional(call.tensor("attn_mask")) : std::nullopt;
  const auto mask_twin = mask ? std::optional(twins.of(*mask)) : std::nullopt;
  const double dropout = call.real("dropout_p");
  const bool is_causal = call.flag("is_causal");
  const bool is_grouped = call.flag("enable_gqa");
  const auto scale = call.has("scale") ? std::optional(call.real("scale")) : std::nullopt;
  const int64_t choice = at::_fused_sdp_choice(twins.of(query), twins.of(key), twins.of(value),
                                               mask_twin, dropout, is_causal, scale, is_grouped);
  if (static_cast<at::SDPBackend>(choice) == at::SDPBackend::flash_attention) {
    return {std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout,
                                                                        is_causal, mask, scale))};
  }
  return {std::get<0>(at::_scaled_dot_product_attention_math(query, key, value, mask, dropout,
                                                             is_causal, {}, scale, is_grouped))};
}

// Column-major, as LAPACK. The fallback fails, as cholesky rejects zeros.
std::vector<at::Tensor> cholesky(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  TORCH_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2),
              "cholesky: A must be batches of square matrices, but they are ", self.sizes());
  return {meta_tensor(self.sizes(), self.scalar_type()).transpose(-2, -1)};
}

constexpr NamedFunction<MetaRule> kMetaRules[] = {
    {"assertion_token", assertion_token},
    {"attention", attention},
    {"batch_norm", batch_norm},
    {"cholesky", cholesky},
    {"convolution", convolution},
    {"flash_attention", flash_attention},
    {"index_select", index_select},
    {"layer_norm", layer_norm},
    {"multinomial", multinomial},
    {"nothing", nothing},
    {"pointwise", pointwise},
    {"reduction", reduction},
    {"repeat_interleave", repeat_interleave},
};

// The argument that `result` aliases and the operator writes to; null for a new tensor.
const c10::Argument* written_argument(const c10::FunctionSchema& schema,
                                      const c10::Argument& result) {
  if (!result.alias_info() || !result.alias_info()->isWrite()) return nullptr;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.alias_info() && *argument.alias_info() == *result.alias_info()) return &argument;
  }
  return nullptr;
}

at::Tensor write_out(const at::Tensor& out, const at::Tensor& result) {
  if (at::native::resize_output(out, result.sizes()) && out.strides() != result.strides()) {
    out.as_strided_(result.sizes(), result.strides());
  }
  return out;
}

}  // namespace

Sizes MetaCall::integers(const char* name) const {
  if (!has(name)) return {};
  const c10::IValue& value = at(name);
  return value.isInt() ? Sizes{value.toInt()} : value.toIntVector();
}

Sizes MetaCall::integers(const char* name, size_t count, int64_t fallback) const {
  Sizes list = integers(name);
  if (list.empty()) return Sizes(count, fallback);
  if (list.size() == 1) return Sizes(count, list[0]);
  TORCH_CHECK(list.size() == count, op_.operator_name(), ": ", name, " must have ", count,
              " elements, it has ", list.size());
  return list;
}

std::vector<at::Tensor> MetaCall::inputs() const {
  std::vector<at::Tensor> inputs;
  for (size_t i = 0; i < arguments().size(); ++i) {
    if (schema().arguments()[i].is_out()) continue;
    for_each_tensor(arguments()[i], [&](const at::Tensor& t) { inputs.push_back(t); });
  }
  return inputs;
}

torch::jit::Stack deliver(const MetaCall& call, const std::vector<at::Tensor>& results) {
  const c10::FunctionSchema& schema = call.schema();
  TORCH_INTERNAL_ASSERT(results.size() == schema.returns().size(), call.op().operator_name(),
                        " returns ", schema.returns().size(), " values, its rule ", results.size());
  torch::jit::Stack delivered;
  for (size_t i = 0; i < results.size(); ++i) {
    const c10::Argument* out = written_argument(schema, schema.returns()[i]);
    delivered.emplace_back(
        out == nullptr ? results[i] : write_out(call.tensor(out->name().c_str()), results[i]));
  }
  return delivered;
}

MetaRule find_meta_rule(std::string_view name) { return find_function(kMetaRules, name); }

}  // namespace torch_ir
