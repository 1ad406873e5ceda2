#include "torch_ir/operators/kept_writes.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

namespace torch_ir {

KeptWrites::~KeptWrites() {
  const at::NoGradGuard no_grad;
  for (const auto& [memory, copy] : kept_) memory.copy_(copy);
}

void KeptWrites::call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                      torch::jit::Stack* stack) {
  before(op, arguments_of(op, *stack));
  run(op, keys, stack);
  after(results_of(op, *stack));
}

void KeptWrites::before(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments) {
  const auto may_be_true = [&](size_t i) {
    return !arguments[i].isBool() || arguments[i].toBool();
  };
  const OperatorEffects& effects = effects_.of(op, may_be_true);
  for (size_t i = 0; i < arguments.size(); ++i) {
    for_each_tensor(arguments[i], [&](const at::Tensor& tensor) {
      if (!tensor.has_storage()) return;
      Memory& memory = *memory_.insert(tensor, Memory::kGiven).first;
      if (!effects.writes[i] || memory != Memory::kGiven) return;
      memory = Memory::kWritten;
      if (tensor.is_meta()) return;
      // All of the memory, also if the tensor is a part of it.
      const at::NoGradGuard no_grad;
      const auto size = static_cast<int64_t>(tensor.storage().nbytes() / tensor.itemsize());
      at::Tensor whole = at::empty({0}, tensor.options().requires_grad(false));
      whole.set_(tensor.storage(), 0, {size}, {1});
      kept_.emplace_back(whole, whole.clone());
    });
  }
}

void KeptWrites::after(c10::ArrayRef<c10::IValue> results) {
  for_each_tensor(results, [&](const at::Tensor& tensor) {
    if (tensor.has_storage()) memory_.insert(tensor, Memory::kMade);
  });
}

bool KeptWrites::has_written(const at::Tensor& tensor) {
  const Memory* memory = memory_.find(tensor);
  return memory != nullptr && *memory == Memory::kWritten;
}

}  // namespace torch_ir
