// Checks shapes that LibTorch's kernels rely on without checking.
//
// Called before an operator runs in a graph: LibTorch would read and write outside of weights and
// views that do not fit.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace torch_ir {

// Throws c10::Error that names the argument of `op`, its shape and the expected one. `stack` has
// all arguments. Skips operators with checks of their own.
void check_argument_shapes(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

}  // namespace torch_ir
