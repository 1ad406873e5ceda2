// Shapes that LibTorch's kernels rely on and do not look at.
//
// Asked before an operator is called on what a graph gives it: weights and views that do not fit
// are an error then, where LibTorch reads and writes outside of them.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace torch_ir {

// Throws c10::Error that says which argument of `op`, all of which are on `stack`, has which shape
// and should have another. Operators that look for themselves are let pass.
void check_argument_shapes(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

}  // namespace torch_ir
