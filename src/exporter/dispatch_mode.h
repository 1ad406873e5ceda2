// DispatchMode: sees every operator that this thread calls.
//
// What TorchDispatchMode is in Python: while a guard lives, each call of an operator goes to the
// mode, with its full schema, before autograd and before composite operators are decomposed. The
// calls that an operator makes inside are not seen. Capture and MetaDeviceGuard are the two modes.
#ifndef TORCH_IR_EXPORTER_DISPATCH_MODE_H_
#define TORCH_IR_EXPORTER_DISPATCH_MODE_H_

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace torch_ir {

class DispatchMode {
 public:
  virtual ~DispatchMode() = default;

  // Replaces the arguments of `op` on top of `stack` by its results; `op.callBoxed(stack)` does.
  virtual void call(const c10::OperatorHandle& op, torch::jit::Stack* stack) = 0;
};

// Makes `mode` the mode of this thread; the one before it, if any, is back when the guard ends.
class DispatchModeGuard {
 public:
  explicit DispatchModeGuard(DispatchMode& mode);
  ~DispatchModeGuard();
  DispatchModeGuard(const DispatchModeGuard&) = delete;
  DispatchModeGuard& operator=(const DispatchModeGuard&) = delete;

 private:
  DispatchMode* previous_;
  c10::impl::IncludeDispatchKeyGuard include_;
};

}  // namespace torch_ir

#endif  // TORCH_IR_EXPORTER_DISPATCH_MODE_H_
