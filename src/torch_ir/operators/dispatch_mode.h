// DispatchMode: sees every operator that this thread calls.
//
// What TorchDispatchMode is in Python: while a guard lives, each call of an operator goes to the
// mode, with its full schema, before autograd and before composite operators are decomposed.
// Capture and MetaDeviceGuard see the calls of a model, the executor's tracer those inside
// operators too; the reader of archives takes operators apart with it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace torch_ir {

class DispatchMode {
 public:
  virtual ~DispatchMode() = default;

  // Replaces the arguments of `op` on top of `stack` by its results; `run` does.
  virtual void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                    torch::jit::Stack* stack) = 0;

 protected:
  // Runs `op` as it would run without the mode. `keys` are those of `call`.
  static void run(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack);
  // Who excludes it does not see the calls below.
  static c10::DispatchKey mode_key();
};

enum class DispatchDepth {
  // The calls that an operator makes inside are not seen.
  kOuter,
  // They are, each before the call that makes it has returned.
  kInner,
};

// Makes `mode` the mode of this thread; the one before it, if any, is back when the guard ends.
// Also inside a call of that one, which may run what traces.
class DispatchModeGuard {
 public:
  explicit DispatchModeGuard(DispatchMode& mode, DispatchDepth depth = DispatchDepth::kOuter);
  ~DispatchModeGuard();
  DispatchModeGuard(const DispatchModeGuard&) = delete;
  DispatchModeGuard& operator=(const DispatchModeGuard&) = delete;

 private:
  DispatchMode* previous_mode_;
  DispatchDepth previous_depth_;
  bool was_excluded_;
  c10::impl::IncludeDispatchKeyGuard include_;
};

}  // namespace torch_ir
