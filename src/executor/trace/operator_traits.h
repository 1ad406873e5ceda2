// What the tracer has to know of an operator before it runs.
#ifndef TORCH_IR_EXECUTOR_TRACE_OPERATOR_TRAITS_H_
#define TORCH_IR_EXECUTOR_TRACE_OPERATOR_TRAITS_H_

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>

namespace torch_ir {

// Whether its kernel for the CPU may do nothing but call other operators.
bool may_be_composite(const c10::OperatorHandle& op);

// Whether its result is memory with no values in it.
bool makes_empty(const c10::OperatorHandle& op);

// Why a call with the arguments on top of `stack` can not be replayed; empty when it can.
std::string replay_refusal(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

}  // namespace torch_ir

#endif  // TORCH_IR_EXECUTOR_TRACE_OPERATOR_TRAITS_H_
