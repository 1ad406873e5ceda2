#include "torch_ir/executor/replay/input_layout.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

namespace torch_ir {
namespace {

// What keys say of how a tensor is kept: dense, on which device, lazily conjugated. Whether it
// takes part in autograd makes no difference.
c10::DispatchKeySet keys_of(const at::Tensor& tensor) {
  return tensor.key_set() - c10::autograd_dispatch_keyset -
         c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView) - c10::autocast_dispatch_keyset;
}

}  // namespace

InputLayout::Settings InputLayout::current_settings() {
  const at::Context& context = at::globalContext();
  return {at::get_num_threads(), context.userEnabledMkldnn(), context.deterministicAlgorithms()};
}

InputLayout::InputLayout(const Program& program, const std::vector<at::Tensor>& inputs)
    : settings_(current_settings()) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor& tensor = inputs[i];
    Input input{tensor.scalar_type(), keys_of(tensor), at::DimVector(tensor.sizes()), {}, {}};
    if (program.inputs[i].meta.is_scalar) {
      input.number = c10::IValue(tensor.item());
    } else if (tensor.layout() == c10::kStrided) {
      input.strides = at::DimVector(tensor.strides());
    }
    inputs_.push_back(std::move(input));
  }
}

bool InputLayout::matches(const Input& input, const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.scalar_type() != input.dtype || tensor.sizes() != input.sizes ||
      keys_of(tensor) != input.keys) {
    return false;
  }
  if (input.number) return c10::IValue(tensor.item()) == *input.number;
  // The keys say whether it has strides.
  return tensor.layout() != c10::kStrided || tensor.strides() == input.strides;
}

bool InputLayout::matches(const std::vector<at::Tensor>& inputs) const {
  if (inputs.size() != inputs_.size() || !(settings_ == current_settings())) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!matches(inputs_[i], inputs[i])) return false;
  }
  return true;
}

}  // namespace torch_ir
