// DispatchMode: intercepts the operator calls of this thread, as TorchDispatchMode does in Python.
//
// While a guard lives, each call goes to the mode, with its full schema, before autograd and before
// the decomposition of composite operators.
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
  // Code that excludes this key does not see nested calls.
  static c10::DispatchKey mode_key();
};

enum class DispatchDepth {
  // Skips the calls that an operator makes inside.
  kOuter,
  // Includes nested calls, each before its caller has returned.
  kInner,
};

// Makes `mode` the mode of this thread, and restores the previous one at the end. Works inside a
// call of the previous one, too.
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
