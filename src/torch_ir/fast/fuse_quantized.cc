// Quantised models keep int8 between their layers: each product of integers reads them, and the
// dequantize and quantize around it become its scales. Where no product takes them, they become one
// pass over memory.
//
// A trace has the operators that quantize and dequantize are made of, and weights that it has
// dequantized. So this looks for the arithmetic, not for the operators of an exporter.
#include <ATen/TensorGeometry.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/fast/quantized.h"

namespace torch_ir {
namespace {

using onednn::Dims;
using onednn::Layout;
using onednn::PostOp;
using onednn::Type;

bool is_byte(at::ScalarType dtype) { return dtype == at::kChar || dtype == at::kByte; }

// Whether the elements lie without gaps, in any order. A tensor without dimensions has no layout in
// oneDNN.
bool is_dense(const TraceTensor& tensor) {
  if (tensor.sizes.empty()) return false;
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] != 1) dims.emplace_back(tensor.strides[d], tensor.sizes[d]);
  }
  std::ranges::sort(dims);
  int64_t next = 1;
  return std::ranges::all_of(dims, [&next](const auto& dim) {
    const bool follows = dim.first == next;
    next *= dim.second;
    return follows;
  });
}

// A tensor of 8-bit integers, and what they stand for.
struct Source {
  TensorId tensor;
  Steps steps;
};

struct Clip {
  float low = -kInfinity;
  float high = kInfinity;
};

// A value computed from constants, and those.
struct Known {
  at::Tensor value;
  std::vector<at::Tensor> leaves;
};

struct Layer {
  std::string_view operator_name;
  bool is_linear;
  // Names of arguments.
  std::string_view source;
  std::string_view weight;
  std::string_view bias;
};

constexpr Layer kLayers[] = {
    {"aten::_slow_conv2d_forward", false, "self", "weight", "bias"},
    {"aten::addmm", true, "mat1", "mat2", "self"},
    {"aten::mkldnn_convolution", false, "self", "weight", "bias"},
    {"aten::mm", true, "self", "mat2", ""},
    {"aten::slow_conv_dilated2d", false, "self", "weight", "bias"},
};

class QuantizedFuser {
 public:
  explicit QuantizedFuser(Trace& trace)
      : trace_(trace),
        to_copy_(c10::Dispatcher::singleton().findSchemaOrThrow("aten::_to_copy", "")),
        multiplies_(onednn::multiplies_bytes()),
        is_written_(written_buffers(trace)),
        makers_(trace.buffers.size()),
        num_readers_(trace.buffers.size()) {
    for (size_t i = 0; i < trace.calls.size(); ++i) {
      names_.push_back(trace.calls[i].fused == nullptr
                           ? c10::toString(trace.calls[i].op.operator_name())
                           : std::string());
      for (const TensorId id : trace.calls[i].outputs) makers_[buffer(id)] = i;
      for (const TensorId id : tensors_of(trace.calls[i])) ++num_readers_[buffer(id)];
    }
    for (const TensorId id : trace.outputs) ++num_readers_[buffer(id)];
  }

  QuantizedCalls run() {
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      if (const auto source = dequantized_at(i)) dequantized_.emplace(i, *source);
    }
    for (size_t i = 0; i < trace_.calls.size(); ++i) fuse_quantize(i);
    for (const auto& [i, source] : dequantized_) {
      replacements_.emplace(i, rescale({source}, Steps(), output(i), {}));
    }
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      if (taken_.contains(i)) continue;
      if (auto product = product_at(i, output_or_none(i), Steps(), {}, {})) {
        replacements_.insert_or_assign(i, std::move(*product));
      }
    }
    return take();
  }

 private:
  // --- The trace ---

  const TraceTensor& tensor(TensorId id) const { return trace_.tensors[id]; }
  BufferId buffer(TensorId id) const { return tensor(id).buffer; }
  TensorId output(size_t index) const { return trace_.calls[index].outputs[0]; }
  std::optional<TensorId> output_or_none(size_t index) const {
    const auto& outputs = trace_.calls[index].outputs;
    return outputs.size() == 1 ? std::optional(outputs[0]) : std::nullopt;
  }

  // The memory of `id`, seen as `shape` sees its own; both are all of their memory.
  TensorId seen_as(TensorId id, TensorId shape) {
    TraceTensor seen = tensor(shape);
    seen.buffer = buffer(id);
    seen.dtype = tensor(id).dtype;
    seen.offset = tensor(id).offset;
    trace_.tensors.push_back(std::move(seen));
    return static_cast<TensorId>(trace_.tensors.size() - 1);
  }

  // The call that made all of the memory of `id`.
  std::optional<size_t> maker(TensorId id) const {
    const BufferId of = buffer(id);
    if (of >= makers_.size() || is_written_[of] || !makers_[of] ||
        trace_.buffers[of].kind != BufferKind::kIntermediate) {
      return std::nullopt;
    }
    const auto made = output_or_none(*makers_[of]);
    return made && is_whole(*made) && is_whole(id) ? makers_[of] : std::nullopt;
  }

  bool is_whole(TensorId id) const {
    return tensor(id).offset == 0 && is_dense(tensor(id)) &&
           bytes_of(tensor(id)) == trace_.buffer_of(id).bytes;
  }

  // The call that made `id` for one reader.
  std::optional<size_t> inner_maker(TensorId id) const {
    const auto made = maker(id);
    return made && num_readers_[buffer(id)] == 1 ? made : std::nullopt;
  }

  bool is_contiguous(TensorId id) const {
    return at::geometry_is_contiguous(tensor(id).sizes, tensor(id).strides);
  }

  bool are_alike(TensorId a, TensorId b) const {
    return tensor(a).sizes == tensor(b).sizes && tensor(a).strides == tensor(b).strides;
  }

  // The second argument of call `index`, if it is a number.
  std::optional<double> number(size_t index) const {
    const auto* id = std::get_if<TensorId>(&trace_.calls[index].arguments[1]);
    const at::Tensor constant = id == nullptr ? at::Tensor() : tensor(*id).constant;
    const bool is_number = constant.defined() && constant.dim() == 0;
    return is_number ? std::optional(constant.item().toDouble()) : std::nullopt;
  }

  // The first argument of call `index`, if that is `name`, elementwise on one tensor.
  std::optional<TensorId> argument_of(std::optional<size_t> index, std::string_view name) const {
    if (!index || names_[*index] != name || !output_or_none(*index)) return std::nullopt;
    const TraceCall& call = trace_.calls[*index];
    const auto* source = std::get_if<TensorId>(&call.arguments[0]);
    const bool is_elementwise = source != nullptr && are_alike(*source, output(*index)) &&
                                CallArguments(call).number("alpha", 1) == 1;
    return is_elementwise ? std::optional(*source) : std::nullopt;
  }

  // --- Matching ---

  // What call `index` dequantizes: (float(q) - zero_point) * scale.
  std::optional<Source> dequantized_at(size_t index) const {
    const auto scaled = argument_of(index, "aten::mul.Tensor");
    const auto sub = scaled ? inner_maker(*scaled) : std::nullopt;
    const auto shifted = argument_of(sub, "aten::sub.Tensor");
    const auto source =
        shifted ? argument_of(inner_maker(*shifted), "aten::_to_copy") : std::nullopt;
    const auto scale = source ? number(index) : std::nullopt;
    const auto zero_point = source ? number(*sub) : std::nullopt;
    if (!scale || !zero_point || !is_byte(tensor(*source).dtype) || !is_dense(tensor(*source)) ||
        is_written_[buffer(*source)] || tensor(*shifted).dtype != at::kFloat ||
        tensor(output(index)).dtype != at::kFloat) {
      return std::nullopt;
    }
    Steps steps{tensor(*source).dtype, static_cast<float>(*scale)};
    steps.zero_point = static_cast<float>(*zero_point);
    return Source{*source, steps};
  }

  // What call `index` quantizes, and its steps: clamp(round(x * inverse_scale) + zero_point).
  std::optional<Source> quantized_at(size_t index) const {
    const auto clipped = argument_of(index, "aten::_to_copy");
    if (!clipped || !is_byte(tensor(output(index)).dtype) || !is_whole(output(index))) {
      return std::nullopt;
    }
    const auto clamp = inner_maker(*clipped);
    const auto shifted = argument_of(clamp, "aten::clamp");
    const auto add = shifted ? inner_maker(*shifted) : std::nullopt;
    const auto rounded = argument_of(add, "aten::add.Tensor");
    const auto scaled = rounded ? argument_of(inner_maker(*rounded), "aten::round") : std::nullopt;
    const auto mul = scaled ? inner_maker(*scaled) : std::nullopt;
    const auto source = argument_of(mul, "aten::mul.Tensor");
    const auto inverse_scale = source ? number(*mul) : std::nullopt;
    const auto zero_point = source ? number(*add) : std::nullopt;
    if (!inverse_scale || !zero_point || tensor(*source).dtype != at::kFloat) return std::nullopt;
    const CallArguments bounds(trace_.calls[*clamp]);
    Steps steps{tensor(output(index)).dtype};
    steps.inverse_scale = static_cast<float>(*inverse_scale);
    steps.zero_point = static_cast<float>(*zero_point);
    steps.low = static_cast<float>(bounds.number("min", -kInfinity));
    steps.high = static_cast<float>(bounds.number("max", kInfinity));
    const float least = steps.dtype == at::kChar ? -128 : 0;
    const bool fits = steps.low >= least && steps.high <= least + 255;
    return fits ? std::optional(Source{*source, steps}) : std::nullopt;
  }

  std::optional<Source> dequantized(TensorId id) const {
    const auto made = maker(id);
    const auto found = made ? dequantized_.find(*made) : dequantized_.end();
    return found == dequantized_.end() ? std::nullopt : std::optional(found->second);
  }

  // What is quantized in `steps` and dequantized again as `id`, for one reader. Exporters do so
  // around each view.
  std::optional<TensorId> rounded_before(TensorId id, const Steps& steps) const {
    const auto source = inner_maker(id) ? dequantized(id) : std::nullopt;
    const auto made = source ? inner_maker(source->tensor) : std::nullopt;
    const auto before = made ? quantized_at(*made) : std::nullopt;
    const bool is_same = before && before->steps == steps &&
                         source->steps.zero_point == steps.zero_point &&
                         std::abs(source->steps.scale * steps.inverse_scale - 1) < 1e-6F;
    return is_same ? std::optional(before->tensor) : std::nullopt;
  }

  // What `functions` are applied to as `id`, for one reader.
  std::optional<TensorId> before_functions(TensorId id, onednn::PostOps& functions) const {
    const auto made = inner_maker(id);
    if (!made || names_[*made].empty()) return std::nullopt;
    functions = functions_of(trace_.calls[*made]);
    return functions.empty() ? std::nullopt : argument_of(made, names_[*made]);
  }

  // Walks back from `id` over functions that clip, and returns what they are applied to.
  TensorId before_clips(TensorId id, const Steps& steps, Clip& clip) const {
    for (;;) {
      if (const auto before = rounded_before(id, steps)) {
        id = *before;
        continue;
      }
      onednn::PostOps functions;
      const auto source = before_functions(id, functions);
      if (!source || functions.size() != 1) return id;
      const PostOp& function = functions[0];
      const bool is_relu = function.function == onednn::Function::kRelu && function.alpha == 0;
      if (!is_relu && function.function != onednn::Function::kClip) return id;
      const float low = is_relu ? 0 : function.alpha;
      const float high = is_relu ? kInfinity : function.beta;
      clip = {std::max(std::min(low, clip.high), clip.low),
              std::max(std::min(high, clip.high), clip.low)};
      id = *source;
    }
  }

  static QuantizedCall rescale(const std::vector<Source>& sources, const Steps& to, TensorId output,
                               const Clip& clip) {
    QuantizedCall call{{}, output, Rescaling{{}, to, clip.low, clip.high}};
    for (const Source& source : sources) {
      call.sources.push_back(source.tensor);
      call.rescaling.sources.push_back(source.steps);
    }
    return call;
  }

  void fuse_quantize(size_t index) {
    const auto quantized = quantized_at(index);
    if (!quantized) return;
    Clip clip;
    const Steps& steps = quantized->steps;
    const TensorId clipped = before_clips(quantized->tensor, steps, clip);
    if (fuse_product(index, steps, clipped, clip, std::nullopt)) return;
    const auto added = operands(clipped);
    const auto first = dequantized(added ? added->first : clipped);
    const auto second = added ? dequantized(added->second) : std::nullopt;
    if (added && second && fuse_product(index, steps, added->first, clip, second)) return;
    if (added && first && fuse_product(index, steps, added->second, clip, first)) return;
    const bool reads_integers = first && added.has_value() == second.has_value();
    std::vector<Source> sources = {first.value_or(Source())};
    if (second) sources.push_back(*second);
    if (!reads_integers) sources = {{clipped, Steps()}};
    auto call = rescale(sources, steps, output(index), clip);
    if (!reads_integers && clipped == quantized->tensor) take_activation_before(clipped, call);
    replacements_.emplace(index, std::move(call));
  }

  // GELU and the like.
  void take_activation_before(TensorId id, QuantizedCall& call) const {
    onednn::PostOps functions;
    const auto source = before_functions(id, functions);
    const auto activation = take_activation(functions, /*is_winograd=*/false);
    if (!source || !activation || !functions.empty()) return;
    call.rescaling.activation = activation;
    const Source before = dequantized(*source).value_or(Source{*source, Steps()});
    call.sources = {before.tensor};
    call.rescaling.sources = {before.steps};
  }

  // The operands of an addition for one reader.
  std::optional<std::pair<TensorId, TensorId>> operands(TensorId sum) const {
    const auto made = inner_maker(sum);
    const auto self = argument_of(made, "aten::add.Tensor");
    const auto other = self ? CallArguments(trace_.calls[*made]).tensor("other") : std::nullopt;
    const bool are_whole = other && are_alike(*self, *other);
    return are_whole ? std::optional(std::pair(*self, *other)) : std::nullopt;
  }

  bool fuse_product(size_t index, const Steps& steps, TensorId id, const Clip& clip,
                    const std::optional<Source>& addend) {
    const auto made = inner_maker(id);
    auto product = made ? product_at(*made, output(index), steps, clip, addend) : std::nullopt;
    if (!product) return false;
    replacements_.emplace(index, std::move(*product));
    taken_.insert(*made);
    return true;
  }

  // --- Products ---

  std::optional<Known> known(std::optional<TensorId> id) const {
    if (!id) return std::nullopt;
    const at::Tensor& constant = tensor(*id).constant;
    if (constant.defined()) return Known{constant, {constant}};
    const auto made = maker(*id);
    if (!made || names_[*made].empty() || trace_.calls[*made].op.schema().is_mutable()) {
      return std::nullopt;
    }
    const TraceCall& call = trace_.calls[*made];
    Known result;
    torch::jit::Stack stack;
    for (const TraceArgument& argument : call.arguments) {
      if (const auto* value = std::get_if<c10::IValue>(&argument)) {
        stack.push_back(*value);
        continue;
      }
      const auto* source = std::get_if<TensorId>(&argument);
      const auto value = source == nullptr ? std::nullopt : known(*source);
      if (!value) return std::nullopt;
      stack.emplace_back(value->value);
      result.leaves.insert(result.leaves.end(), value->leaves.begin(), value->leaves.end());
    }
    call.op.callBoxed(stack);
    const at::Tensor made_now = stack.at(0).toTensor();
    if (!has_layout(made_now, tensor(output(*made)))) return std::nullopt;
    result.value = made_now.as_strided(tensor(*id).sizes, tensor(*id).strides, tensor(*id).offset);
    return result;
  }

  // The layer at `index` from integers to `output`, which has `steps`, with all that is between.
  std::optional<QuantizedCall> product_at(size_t index, std::optional<TensorId> output,
                                          const Steps& steps, const Clip& clip,
                                          const std::optional<Source>& addend) {
    const auto layer = std::ranges::find(kLayers, names_[index], &Layer::operator_name);
    if (!multiplies_ || layer == std::end(kLayers) || !output) return std::nullopt;
    const CallArguments call(trace_.calls[index]);
    const TensorId result = this->output(index);
    const auto floats = call.tensor(layer->source);
    const auto from = floats ? dequantized(*floats) : std::nullopt;
    const size_t dims = layer->is_linear ? 2 : 4;
    if (!from || !is_contiguous(*floats) || !is_contiguous(from->tensor) ||
        !is_contiguous(result) || !is_whole(result) || tensor(*floats).sizes.size() != dims ||
        tensor(result).sizes.size() != dims || call.number("alpha", 1) != 1 ||
        call.number("beta", 1) != 1) {
      return std::nullopt;
    }
    const TensorId source = seen_as(from->tensor, *floats);
    const auto weight = known(call.tensor(layer->weight));
    const auto bias_id = call.tensor(layer->bias);
    const auto bias = bias_id ? known(bias_id) : Known();
    if (!weight || !bias || weight->value.scalar_type() != at::kFloat) return std::nullopt;
    const int64_t channels = tensor(result).sizes[1];
    const bool is_row =
        !bias->value.defined() || (bias->value.scalar_type() == at::kFloat &&
                                   bias->value.sizes() == at::IntArrayRef{channels});
    const auto integers = is_row
                              ? integer_weight(layer->is_linear ? weight->value.t() : weight->value)
                              : std::nullopt;
    if (!integers) return std::nullopt;
    // Padding is zero, which the library must know; elsewhere the zero point is part of the bias.
    const Dims padding = call.integers("padding", dims - 2, 0);
    const bool is_padded = std::ranges::any_of(padding, [](int64_t size) { return size != 0; });
    const Arithmetic arithmetic =
        arithmetic_of(is_padded, *from, *integers, bias->value, steps, clip, addend);
    QuantizedCall product{{source}, *output, {}};
    product.primitive = primitive_of(call, source, integers->values.sizes().vec(), result,
                                     type_of(steps.dtype), arithmetic);
    product.bias = at::tensor(arithmetic.bias);
    if (product.primitive == nullptr || !product.bias.isfinite().all().item<bool>()) {
      return std::nullopt;
    }
    product.output = seen_as(*output, result);
    product.weight = [leaves = weight->leaves, values = integers->values](TraceRewriter& rewriter,
                                                                          const Layout& wanted) {
      const Layout plain = Layout::strided(
          wanted.sizes(), *contiguous_layout(wanted.sizes()).strides(), Type::kInt8);
      return rewriter.packed("int8 " + wanted.key(), leaves,
                             [&] { return reorder_constant(values, plain, wanted); });
    };
    if (addend) product.sources.push_back(seen_as(addend->tensor, result));
    return product;
  }

  struct Arithmetic {
    onednn::Scaling scaling;
    std::vector<float> bias;
    onednn::PostOps post_ops;
  };

  // Everything in steps of the output: scales, the bias with the zero points, and the clip.
  static Arithmetic arithmetic_of(bool is_padded, const Source& source, const IntegerWeight& weight,
                                  const at::Tensor& bias, const Steps& to, const Clip& clip,
                                  const std::optional<Source>& addend) {
    Arithmetic result;
    if (is_padded) result.scaling.source_zero_point = static_cast<int32_t>(source.steps.zero_point);
    double offset = to.zero_point;
    if (addend) {
      const double scale = static_cast<double>(addend->steps.scale) * to.inverse_scale;
      result.scaling.sum_scale = static_cast<float>(scale);
      result.scaling.sum_type = type_of(addend->steps.dtype);
      result.post_ops.push_back({PostOp::Kind::kSum});
      offset -= scale * addend->steps.zero_point;
    }
    const at::Tensor biases = bias.defined() ? bias.to(at::kDouble).contiguous() : bias;
    for (size_t i = 0; i < weight.scales.size(); ++i) {
      const double scale = source.steps.scale * weight.scales[i] * to.inverse_scale;
      double sum = offset;
      if (bias.defined()) sum += biases.const_data_ptr<double>()[i] * to.inverse_scale;
      if (!is_padded) sum -= scale * source.steps.zero_point * static_cast<double>(weight.sums[i]);
      result.scaling.scales.push_back(static_cast<float>(scale));
      result.bias.push_back(static_cast<float>(onednn::scales_bias() ? sum / scale : sum));
    }
    const auto in_steps = [&to](float bound) { return bound * to.inverse_scale + to.zero_point; };
    const float low = to.is_float() ? clip.low : std::max(to.low, in_steps(clip.low));
    const float high = to.is_float() ? clip.high : std::min(to.high, in_steps(clip.high));
    // The library clips to the bounds of the dtype.
    const bool is_full = to.is_float() ? low == -kInfinity && high == kInfinity : high - low == 255;
    if (!is_full) {
      result.post_ops.push_back({PostOp::Kind::kFunction, onednn::Function::kClip, low, high});
    }
    return result;
  }

  onednn::PrimitivePtr primitive_of(const CallArguments& call, TensorId source, Dims weight,
                                    TensorId result, Type to, const Arithmetic& arithmetic) const {
    const Type from = type_of(tensor(source).dtype);
    const Dims from_sizes = dims_of(tensor(source).sizes);
    const Dims to_sizes = dims_of(tensor(result).sizes);
    const Layout bias = Layout::strided({to_sizes[1]}, {1});
    if (from_sizes.size() == 2) {
      return onednn::make_inner_product(Layout::strided(from_sizes, {from_sizes[1], 1}, from),
                                        Layout::any(weight, Type::kInt8), bias,
                                        Layout::strided(to_sizes, {to_sizes[1], 1}, to),
                                        arithmetic.post_ops, arithmetic.scaling);
    }
    if (const auto groups = call.integers("groups", 1, 1)[0]; groups > 1) {
      weight[0] /= groups;
      weight.insert(weight.begin(), groups);
    }
    const Dims padding = call.integers("padding", 2, 0);
    return onednn::make_convolution(
        {Layout::channels_last(from_sizes, from), Layout::any(weight, Type::kInt8), bias,
         Layout::channels_last(to_sizes, to), call.integers("stride", 2, 1), padding, padding,
         call.integers("dilation", 2, 1),
         /*is_winograd=*/false, arithmetic.post_ops, arithmetic.scaling});
  }

  // --- The new trace ---

  // Drops the calls that nothing reads any more. Those that others replace keep their places.
  QuantizedCalls take() {
    std::vector<bool> is_read(trace_.buffers.size(), false);
    for (const TensorId id : trace_.outputs) is_read[buffer(id)] = true;
    std::vector<bool> is_live(trace_.calls.size(), false);
    for (size_t i = trace_.calls.size(); i-- > 0;) {
      TraceCall& call = trace_.calls[i];
      is_live[i] =
          call.outputs.empty() || writes_any_argument(call) ||
          std::ranges::any_of(call.outputs, [&](TensorId id) { return is_read[buffer(id)]; });
      if (!is_live[i]) continue;
      if (const auto found = replacements_.find(i); found != replacements_.end()) {
        call.op = to_copy_;
        call.arguments.assign(found->second.sources.begin(), found->second.sources.end());
      }
      for (const TensorId id : tensors_of(call)) is_read[buffer(id)] = true;
    }
    QuantizedCalls result;
    std::vector<TraceCall> live;
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      if (!is_live[i]) continue;
      if (auto found = replacements_.extract(i)) result.emplace(live.size(), found.mapped());
      live.push_back(std::move(trace_.calls[i]));
    }
    trace_.calls = std::move(live);
    return result;
  }

  Trace& trace_;
  c10::OperatorHandle to_copy_;
  bool multiplies_;
  std::vector<bool> is_written_;
  // By buffer of the original trace.
  std::vector<std::optional<size_t>> makers_;
  std::vector<size_t> num_readers_;
  // By call; empty for fused calls.
  std::vector<std::string> names_;
  // By the last call of each.
  std::unordered_map<size_t, Source> dequantized_;
  std::unordered_map<size_t, QuantizedCall> replacements_;
  // Calls of layers that are part of another's replacement.
  std::unordered_set<size_t> taken_;
};

void emit_product(TraceRewriter& rewriter, const QuantizedCall& call, size_t index) {
  const onednn::PrimitivePtr& primitive = call.primitive;
  std::optional<TensorId> written;
  if (call.sources.size() > 1) {
    const Layout& layout = primitive->output();
    const Layout from = Layout::strided(layout.sizes(), *layout.strides(),
                                        type_of(rewriter.tensor(call.sources[1]).dtype));
    // A copy of the bytes, to which the product is added.
    rewriter.emit(onednn::make_reorder(layout, layout), {rewriter.use(call.sources[1], from)},
                  call.output, index);
    written = rewriter.use(call.output, layout);
  }
  const TensorId source = rewriter.use(call.sources[0], primitive->inputs()[0]);
  rewriter.emit(
      primitive,
      {source, call.weight(rewriter, primitive->inputs()[1]), rewriter.add_constant(call.bias)},
      call.output, index, written);
}

// Keeps the layout of the first source, unless its blocks are partly padding.
void emit_rescale(TraceRewriter& rewriter, const QuantizedCall& call, size_t index) {
  const TensorId first = call.sources[0];
  const Dims sizes = dims_of(rewriter.tensor(first).sizes);
  const bool is_alike = std::ranges::all_of(call.sources, [&](TensorId id) {
    return rewriter.tensor(id).sizes == rewriter.tensor(call.output).sizes &&
           rewriter.tensor(id).strides == rewriter.tensor(call.output).strides;
  });
  const Layout made = rewriter.layout_of(first);
  const auto strides = is_alike ? made.strides() : std::nullopt;
  const int64_t block = is_alike ? made.block().value_or(0) : 0;
  const auto layout_of = [&](TensorId id) {
    const Type type = type_of(rewriter.tensor(id).dtype);
    if (block > 0 && sizes[1] % block == 0) return Layout::blocked(sizes, block, type);
    return strides ? Layout::strided(sizes, *strides, type) : rewriter.plain_layout(id);
  };
  std::vector<TensorId> sources;
  std::vector<Layout> layouts;
  for (const TensorId id : call.sources) {
    layouts.push_back(layout_of(id));
    sources.push_back(rewriter.use(id, layouts.back()));
  }
  rewriter.emit(make_rescale(call.rescaling, std::move(layouts), layout_of(call.output)), sources,
                call.output, index);
}

}  // namespace

QuantizedCalls find_quantized(Trace& trace) {
  const bool has_bytes = std::ranges::any_of(
      trace.tensors, [](const TraceTensor& tensor) { return is_byte(tensor.dtype); });
  return has_bytes ? QuantizedFuser(trace).run() : QuantizedCalls();
}

void emit_quantized(TraceRewriter& rewriter, const QuantizedCall& call, size_t index) {
  (call.primitive != nullptr ? emit_product : emit_rescale)(rewriter, call, index);
}

}  // namespace torch_ir
