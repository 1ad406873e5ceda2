// Checks values that LibTorch's kernels use as memory offsets without checking.
//
// Called before an operator runs in a graph: LibTorch would read and write at indices out of range.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "torch_ir/operators/named_arguments.h"

namespace torch_ir {

// Throws c10::Error that names the argument, the value, its position and the expectation. The
// tensors are on a CPU.
using ValueCheck = void (*)(const NamedArguments& arguments);

// Null for operators with checks of their own. A replay calls the check in each run.
ValueCheck find_value_check(const c10::OperatorHandle& op);

// Calls the check of `op`, if there is one. `stack` has all arguments.
void check_argument_values(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

}  // namespace torch_ir
