// The wording of messages about tensors and errors.
#pragma once

#include <ATen/core/Tensor.h>

#include <exception>
#include <string>

namespace torch_ir {

struct Value;

std::string shape_list_text(c10::IntArrayRef shape);

// "float32 [1, s0]"
std::string dtype_and_shape(const Value& value);
std::string dtype_and_shape(const at::Tensor& tensor);

// How `tensor` differs from `value`: "shape [1, 4], expected [1, 8], and dtype float64, expected
// float32", or the layout, which must be strided. Empty if it fits; a dynamic size fits any.
std::string describe_difference(const at::Tensor& tensor, const Value& value);

// The message of `error`; for LibTorch's errors, one readable line without the stack trace.
std::string message_text(const std::exception& error);

}  // namespace torch_ir
