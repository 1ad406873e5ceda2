// Normalizations: the result has the shape of the input, beside it come the statistics.
#include <ATen/AccumulateType.h>

#include "torch_ir/exporter/meta/meta_rules.h"

namespace torch_ir {
namespace {

using c10::MemoryFormat;
using c10::ScalarType;

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

at::Tensor like_input(const at::Tensor& input) {
  return meta_tensor(input.sizes(), input.scalar_type(), input.suggest_memory_format());
}

std::vector<at::Tensor> batch_norm(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  check_dtypes(call, input);
  TORCH_CHECK(input.dim() >= 2, "batch_norm: expected an input of at least 2 dimensions, got ",
              input.dim());
  const Sizes statistics{call.boolean("training") ? input.size(1) : 0};
  const ScalarType dtype = statistics_dtype(call, input.scalar_type());
  return {like_input(input), meta_tensor(statistics, dtype), meta_tensor(statistics, dtype)};
}

// With a reserve for the backward pass, which the CPU leaves empty.
std::vector<at::Tensor> batch_norm_no_update(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  check_dtypes(call, input);
  const ScalarType dtype = statistics_dtype(call, input.scalar_type());
  return {like_input(input), meta_tensor({0}, dtype), meta_tensor({0}, dtype),
          meta_tensor({0}, ScalarType::Byte)};
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

// Without a rule it would make channels last contiguous, as for devices that do not know it.
std::vector<at::Tensor> group_norm(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  check_dtypes(call, input);
  const int64_t groups = call.integer("num_groups");
  TORCH_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ",
              input.dim());
  TORCH_CHECK(groups > 0 && input.size(1) % groups == 0, "Expected number of channels in input to ",
              "be divisible by num_groups, but got input of shape ", input.sizes(),
              " and num_groups=", groups);
  for (const std::string_view name : {"weight", "bias"}) {
    TORCH_CHECK(!call.has(name) || call.tensor(name).sizes() == Sizes{input.size(1)}, "Expected ",
                name, " to be a vector of size equal to the number of channels in input, but got ",
                name, " of shape ", call.tensor(name).sizes(), " and input of shape ",
                input.sizes());
  }
  return {like_input(input)};
}

std::vector<at::Tensor> native_group_norm(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  check_dtypes(call, input);
  const Sizes statistics{call.integer("N"), call.integer("group")};
  const ScalarType dtype = statistics_dtype(call, input.scalar_type());
  return {like_input(input), meta_tensor(statistics, dtype), meta_tensor(statistics, dtype)};
}

constexpr NamedMetaRule kNormalizationRules[] = {
    {"_batch_norm_no_update", batch_norm_no_update, Composite::kReplace},
    {"_native_batch_norm_legit", batch_norm},
    {"group_norm", group_norm, Composite::kReplace},
    {"native_batch_norm", batch_norm},
    {"native_group_norm", native_group_norm, Composite::kReplace},
    {"native_layer_norm", layer_norm, Composite::kReplace},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> normalization_meta_rules() { return kNormalizationRules; }

}  // namespace torch_ir
