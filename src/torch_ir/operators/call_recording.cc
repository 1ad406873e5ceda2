#include "torch_ir/operators/call_recording.h"

#include <ATen/core/List.h>

namespace torch_ir {

c10::ArrayRef<c10::IValue> arguments_of(const c10::OperatorHandle& op,
                                        const torch::jit::Stack& stack) {
  return torch::jit::last(stack, op.schema().arguments().size());
}

c10::ArrayRef<c10::IValue> results_of(const c10::OperatorHandle& op,
                                      const torch::jit::Stack& stack) {
  return torch::jit::last(stack, op.schema().returns().size());
}

const c10::IValue* find_argument(const c10::FunctionSchema& schema,
                                 c10::ArrayRef<c10::IValue> arguments, std::string_view name) {
  const auto index = schema.argumentIndexWithName(name);
  return index ? &arguments[static_cast<size_t>(*index)] : nullptr;
}

void for_each_tensor(c10::ArrayRef<c10::IValue> values,
                     c10::function_ref<void(const at::Tensor&)> visit) {
  for (const c10::IValue& value : values) {
    if (value.isTensor()) {
      if (value.toTensor().defined()) visit(value.toTensor());
    } else if (value.isList()) {
      for_each_tensor(value.toListRef(), visit);
    }
  }
}

std::vector<at::Tensor> tensors_of(c10::ArrayRef<c10::IValue> values) {
  std::vector<at::Tensor> tensors;
  for_each_tensor(values, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

c10::IValue map_tensors(const c10::IValue& value, const TensorMap& map) {
  if (value.isTensor()) return value.toTensor().defined() ? map(value.toTensor()) : value;
  if (!value.isTensorList() && !value.isOptionalTensorList()) return value;
  c10::impl::GenericList mapped = value.toList().copy();
  for (size_t i = 0; i < mapped.size(); ++i) mapped.set(i, map_tensors(mapped.get(i), map));
  return mapped;
}

}  // namespace torch_ir
