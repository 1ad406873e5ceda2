// Values that LibTorch's kernels take for places in memory and do not look at.
//
// Asked before an operator runs on what a graph and its inputs give it: indices that lie outside
// are an error then, where LibTorch reads and writes at them. Shapes are argument_shapes.h.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "torch_ir/operators/named_arguments.h"

namespace torch_ir {

// Throws c10::Error that says which argument has which value where, and what it should be. The
// tensors are on a CPU.
using ValueCheck = void (*)(const NamedArguments& arguments);

// Null for operators that look for themselves. What a replay asks again in each run.
ValueCheck find_value_check(const c10::OperatorHandle& op);

// The check of `op`, if there is one, of a call with all of `stack`.
void check_argument_values(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

}  // namespace torch_ir
