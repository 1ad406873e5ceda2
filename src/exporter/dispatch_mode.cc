#include "torch_ir/exporter/dispatch_mode.h"

#include <torch/library.h>

namespace torch_ir {
namespace {

// A mode key that nothing in LibTorch uses, with a higher priority than autograd.
constexpr c10::DispatchKey kModeKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

thread_local DispatchMode* current_mode = nullptr;

void call_current_mode(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard exclude(kModeKey);
  if (current_mode == nullptr) {
    op.callBoxed(stack);
  } else {
    current_mode->call(op, stack);
  }
}

// At the first use instead of by a static initializer, so that linking this file changes nothing
// for those who do not use it.
void register_fallback() {
  static const torch::Library library = [] {
    torch::Library fallback(torch::Library::IMPL, "_", kModeKey, __FILE__, __LINE__);
    fallback.fallback(torch::CppFunction::makeFromBoxedFunction<&call_current_mode>());
    return fallback;
  }();
}

c10::DispatchKeySet mode_keys() {
  register_fallback();
  return c10::DispatchKeySet(kModeKey);
}

}  // namespace

DispatchModeGuard::DispatchModeGuard(DispatchMode& mode)
    : previous_(current_mode), include_(mode_keys()) {
  current_mode = &mode;
}

DispatchModeGuard::~DispatchModeGuard() { current_mode = previous_; }

}  // namespace torch_ir
