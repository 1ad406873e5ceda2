#include "harness/stages/seeded_values.h"

#include <ATen/core/grad_mode.h>
#include <torch/nn/module.h>

#include <optional>
#include <utility>

#include "torch_ir/weights/seeded_tensor.h"

namespace torch_ir {

SeededValues::SeededValues(uint64_t seed, std::string model_name)
    : seed_(seed), model_name_(std::move(model_name)) {}

at::Tensor SeededValues::tensor(std::string_view name, at::IntArrayRef shape, at::ScalarType dtype,
                                double low, double high) const {
  return seeded_tensor(seed_, model_name_, name, shape, dtype, {low, high});
}

std::vector<at::Tensor> SeededValues::inputs(const ModelSpec& spec) const {
  std::vector<at::Tensor> tensors;
  for (const ModelInput& input : spec.inputs) {
    tensors.push_back(
        tensor("input/" + input.name, input.shape, input.dtype, input.low, input.high));
  }
  return tensors;
}

void SeededValues::fill(torch::nn::Module& module) const {
  const at::NoGradGuard no_grad;
  const auto assign = [&](const std::string& name, at::Tensor& target, ValueRange range) {
    target.copy_(
        tensor("weight/" + name, target.sizes(), target.scalar_type(), range.low, range.high));
  };
  for (auto& item : module.named_parameters()) {
    if (item.value().defined())
      assign(item.key(), item.value(), parameter_range(item.key(), item.value().sizes()));
  }
  for (auto& item : module.named_buffers()) {
    const std::optional<ValueRange> range = buffer_range(item.key());
    if (range && item.value().defined()) assign(item.key(), item.value(), *range);
  }
}

}  // namespace torch_ir
