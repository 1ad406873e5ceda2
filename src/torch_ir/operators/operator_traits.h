// What the tracer has to know of an operator before it runs.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace torch_ir {

// Whether its kernel for the CPU may do nothing but call other operators.
bool may_be_composite(const c10::OperatorHandle& op);

// Whether its result is memory with no values in it.
bool makes_empty(const c10::OperatorHandle& op);

// Whether the shape of its results, or a number that it gives, depends on data when called with the
// arguments on top of `stack`.
bool depends_on_data(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

// Whether it gives a tensor other memory.
bool changes_memory(const c10::OperatorHandle& op);

}  // namespace torch_ir
