#include "torch_ir/operators/dispatch_mode.h"

#include <torch/library.h>

namespace torch_ir {
namespace {

// A mode key that nothing in LibTorch uses, with a higher priority than autograd.
constexpr c10::DispatchKey kModeKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

thread_local DispatchMode* current_mode = nullptr;
thread_local DispatchDepth current_depth = DispatchDepth::kOuter;

void call_current_mode(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                       torch::jit::Stack* stack) {
  const c10::DispatchKeySet below =
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kModeKey);
  const bool sees_nested = current_mode != nullptr && current_depth == DispatchDepth::kInner;
  const c10::impl::ExcludeDispatchKeyGuard exclude(sees_nested ? c10::DispatchKeySet()
                                                               : c10::DispatchKeySet(kModeKey));
  if (current_mode == nullptr) return op.redispatchBoxed(below, stack);
  current_mode->call(op, below, stack);
}

c10::DispatchKeySet mode_keys() {
  // Not a static initializer, so that linking this file has no effect on programs that do not use
  // it.
  static const torch::Library library = [] {
    torch::Library fallback(torch::Library::IMPL, "_", kModeKey, __FILE__, __LINE__);
    fallback.fallback(torch::CppFunction::makeFromBoxedFunction<&call_current_mode>());
    return fallback;
  }();
  return c10::DispatchKeySet(kModeKey);
}

}  // namespace

void DispatchMode::run(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                       torch::jit::Stack* stack) {
  op.redispatchBoxed(keys, stack);
}

c10::DispatchKey DispatchMode::mode_key() { return kModeKey; }

DispatchModeGuard::DispatchModeGuard(DispatchMode& mode, DispatchDepth depth)
    : previous_mode_(current_mode),
      previous_depth_(current_depth),
      was_excluded_(c10::impl::tls_is_dispatch_key_excluded(kModeKey)),
      include_(mode_keys()) {
  current_mode = &mode;
  current_depth = depth;
  c10::impl::tls_set_dispatch_key_excluded(kModeKey, false);
}

DispatchModeGuard::~DispatchModeGuard() {
  current_mode = previous_mode_;
  current_depth = previous_depth_;
  c10::impl::tls_set_dispatch_key_excluded(kModeKey, was_excluded_);
}

}  // namespace torch_ir
