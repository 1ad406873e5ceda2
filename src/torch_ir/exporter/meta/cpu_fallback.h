// The Meta kernel of operators that have no shape rule: run the operator on the CPU with zeros and
// keep the shape, strides and dtype of what it returns.
//
// Registered by meta_kernels.cc.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace torch_ir {

// A boxed kernel. The CPU sees tensors with the same sizes, strides and storage sharing as the meta
// tensors, over zeros that take no memory until they are written. In-place and out operators
// return the meta tensors they were given, resized as on the CPU; views return views.
//
// It takes as long as the operator does on the CPU, and as much memory as its result. Throws
// c10::Error, naming the operator, when the operator rejects zeros.
void run_on_cpu_zeros(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace torch_ir
