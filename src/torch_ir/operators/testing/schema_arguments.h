// For tests: arguments with which an operator can be called, made up from its schema.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <optional>

namespace torch_ir {

// Arguments have their defaults where they have any; tensors are `example`, or zeros or ones of a
// fitting kind where the argument's name tells that (indices, masks, weights); numbers are one.
// Nothing where a type is not known. Whether the operator accepts them is another question.
std::optional<torch::jit::Stack> make_arguments(const c10::FunctionSchema& schema,
                                                const at::Tensor& example);

}  // namespace torch_ir
