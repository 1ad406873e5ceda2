// The words in which messages speak of tensors and of what went wrong with them.
#pragma once

#include <ATen/core/Tensor.h>

#include <exception>
#include <string>

namespace torch_ir {

// "[1, 3, 64, 64]"
std::string shape_list_text(c10::IntArrayRef shape);

// How `tensor` differs from what the graph says: "shape [1, 4], expected [1, 8]" or "dtype float64,
// expected float32"; empty when it does not.
std::string describe_difference(const at::Tensor& tensor, c10::IntArrayRef shape,
                                c10::ScalarType dtype);

// What `error` says; of LibTorch's, one line that a person would read, without the stack trace.
std::string message_text(const std::exception& error);

}  // namespace torch_ir
