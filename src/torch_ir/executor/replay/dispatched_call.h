// Calls through the dispatcher, for what has no kernel, and calls whose values are looked at first.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {

// Calls the overload of the operator that writes to given results, after it has given the bits of
// the operator once. Null where there is none, or
// only one that computes them elsewhere first.
std::unique_ptr<PreparedKernel> prepare_out_call(const KernelCall& call);

// Gets the result that stands for output `index` of a call, if its memory is new, and keeps that as
// long as it is needed.
using OnResult = std::function<void(size_t index, const at::Tensor& result)>;

// Calls the operator itself, and hands over the memory that it returns. Throws std::runtime_error
// in a run where a result is not laid out as it was when it was traced.
std::unique_ptr<PreparedKernel> prepare_returning_call(const KernelCall& call,
                                                       std::vector<bool> has_new_memory,
                                                       OnResult on_result);

// `kernel`, which runs `call`; or one that looks first at the values that the operator takes for
// places in memory (argument_values.h), and throws c10::Error where they are not.
std::unique_ptr<PreparedKernel> with_checked_values(const KernelCall& call,
                                                    std::unique_ptr<PreparedKernel> kernel);

}  // namespace torch_ir
