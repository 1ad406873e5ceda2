// KeptWrites: a dispatch mode that puts back what calls write to, such as the buffers of a module.
//
// Passes calls on. Another mode may call `before` and `after` around each call instead.
#pragma once

#include <vector>

#include "torch_ir/operators/call_recording.h"
#include "torch_ir/operators/dispatch_mode.h"
#include "torch_ir/operators/operator_effects.h"

namespace torch_ir {

class KeptWrites : public DispatchMode {
 public:
  // Puts the old values back.
  ~KeptWrites() override;

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
            torch::jit::Stack* stack) override;

  // Copies the memory that the call will write to, unless an earlier call made it.
  void before(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments);
  void after(c10::ArrayRef<c10::IValue> results);

  // Whether a call has written to the memory of `tensor`, which no call made.
  bool has_written(const at::Tensor& tensor);

 private:
  enum class Memory { kGiven, kWritten, kMade };

  EffectsTable effects_;
  StorageTable<Memory> memory_;
  // Each with its copy.
  std::vector<std::pair<at::Tensor, at::Tensor>> kept_;
};

// Calls `run` under a mode.
template <class Run>
auto under(DispatchMode& mode, const Run& run) {
  const DispatchModeGuard guard(mode);
  return run();
}

}  // namespace torch_ir
