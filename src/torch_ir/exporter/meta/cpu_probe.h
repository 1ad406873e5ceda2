// Running an operator that was called with meta tensors on the CPU, to see what it returns.
//
// For the Meta kernels only (meta_kernels.h): the fallback runs the whole call on zeros, the shape
// rules run it on a few ones to learn the dtypes of the result.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "torch_ir/operators/call_recording.h"

namespace torch_ir {

// Calls `op` with `arguments`, on the CPU: meta tensors are replaced by what `substitute` gives for
// them, the meta device by the CPU. The random number generator is left as it was, and warnings are
// dropped. Throws c10::Error, naming the operator, when it fails.
torch::jit::Stack call_on_cpu(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                              const TensorMap& substitute);

// The results of operators that have no shape rule: runs `op` on the CPU with zeros and keeps the
// shape, strides and dtype of what it returns.
//
// The CPU sees tensors with the same sizes, strides and storage sharing as the meta tensors, over
// zeros that take no memory until they are written. In-place and out operators return the meta
// tensors they were given, resized as on the CPU; views return views.
//
// It takes as long as the operator does on the CPU, and as much memory as its result. Throws
// c10::Error, naming the operator, when the operator rejects zeros.
torch::jit::Stack run_on_cpu_zeros(const c10::OperatorHandle& op,
                                   c10::ArrayRef<c10::IValue> arguments);

}  // namespace torch_ir
