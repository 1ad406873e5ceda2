// Calls through the dispatcher for operators without a kernel, and checks of argument values.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "torch_ir/runtime/kernels/kernel.h"

namespace torch_ir {

// Calls the operator's overload that writes to given results, once it has matched the bits of the
// operator. Null if there is none, or only one that computes them elsewhere first.
std::unique_ptr<PreparedKernel> prepare_out_call(const KernelCall& call);

// Receives the result for output `index` of a call if its memory is new, and keeps that as long as
// it is needed.
using OnResult = std::function<void(size_t index, const at::Tensor& result)>;

// Calls the operator itself, and hands over its new memory. Its run throws std::runtime_error if a
// result is not laid out as traced.
std::unique_ptr<PreparedKernel> prepare_returning_call(const KernelCall& call,
                                                       std::vector<bool> has_new_memory,
                                                       OnResult on_result);

// Wraps `kernel`, which runs `call`, if the operator takes values as places in memory
// (argument_values.h): the wrapper throws c10::Error if they are out of range.
std::unique_ptr<PreparedKernel> with_checked_values(const KernelCall& call,
                                                    std::unique_ptr<PreparedKernel> kernel);

}  // namespace torch_ir
