// Running an operator that was called with meta tensors on the CPU, to see what it returns.
//
// For the Meta kernels only (meta_kernels.h): the fallback runs the whole call on zeros, the shape
// rules run it on a few ones to learn the dtypes of the result.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <functional>

namespace torch_ir {

using TensorMap = std::function<at::Tensor(const at::Tensor&)>;

// `value` with `map` applied to its tensors, also those in lists. Undefined tensors stay.
c10::IValue map_tensors(const c10::IValue& value, const TensorMap& map);

// Makes `tensor` a number in the eyes of type promotion if `source` is one: what `x + 2` wraps 2
// into.
void copy_wrapped_number(const at::Tensor& source, const at::Tensor& tensor);

// Calls `op` with `arguments`, on the CPU: meta tensors are replaced by what `substitute` gives for
// them, the meta device by the CPU. Random number generators are left as they were, and
// warnings are dropped. Throws c10::Error, naming the operator, when it fails.
torch::jit::Stack call_on_cpu(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                              const TensorMap& substitute);

}  // namespace torch_ir
