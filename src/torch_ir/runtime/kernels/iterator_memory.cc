#include "torch_ir/runtime/kernels/iterator_memory.h"

#include <ATen/ops/copy_native.h>

#include <algorithm>

#include "torch_ir/operators/call_recording.h"

namespace torch_ir {
namespace {

const c10::StorageImpl* storage_of(const at::TensorBase& tensor) {
  return tensor.storage().unsafeGetStorageImpl();
}

bool is_constant(const at::TensorBase& tensor, const KernelCall& call) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const c10::IValue& argument = call.arguments[i];
    if (call.is_constant[i] && argument.isTensor() &&
        argument.toTensor().unsafeGetTensorImpl() == tensor.unsafeGetTensorImpl()) {
      return true;
    }
  }
  return false;
}

bool belongs_to_call(const at::TensorBase& tensor, const KernelCall& call) {
  std::vector<at::Tensor> known = tensors_of(call.arguments);
  known.insert(known.end(), call.outputs.begin(), call.outputs.end());
  return std::ranges::any_of(known, [&](const at::Tensor& other) {
    return other.defined() && other.has_storage() && storage_of(other) == storage_of(tensor);
  });
}

}  // namespace

bool IteratorMemory::bind(const at::TensorIteratorBase& iterator, const KernelCall& call) {
  for (int i = 0; i < iterator.ntensors(); ++i) {
    const at::OperandInfo& operand = iterator.operand(i);
    if (operand.original_tensor_base().defined()) {
      if (i < iterator.noutputs()) return false;
      if (!is_constant(operand.original_tensor_base(), call)) {
        conversions_.push_back({operand.original_tensor(), operand.tensor()});
      }
      operands_.push_back({nullptr, 0});
      continue;
    }
    const at::TensorBase& tensor = operand.tensor_base();
    if (!tensor.defined() || !tensor.has_storage()) {
      operands_.push_back({nullptr, 0});
      continue;
    }
    // A tensor that is neither the call's nor made of a number has an argument's former values.
    const bool is_number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    if (!is_number && !belongs_to_call(tensor, call)) return false;
    const auto* base = static_cast<const char*>(storage_of(tensor)->data());
    operands_.push_back({storage_of(tensor), static_cast<const char*>(operand.data) - base});
  }
  return true;
}

void IteratorMemory::convert() {
  for (Conversion& conversion : conversions_) {
    at::native::copy_(conversion.to, conversion.from, /*non_blocking=*/false);
  }
}

void IteratorMemory::move(at::TensorIteratorBase& iterator, const c10::StorageImpl* storage) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].storage != storage) continue;
    auto* base = const_cast<char*>(static_cast<const char*>(storage->data()));
    iterator._unsafe_set_arg_data(static_cast<int64_t>(i), base + operands_[i].offset);
  }
}

}  // namespace torch_ir
