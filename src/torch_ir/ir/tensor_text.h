// The words in which messages speak of tensors and of what went wrong with them.
#pragma once

#include <ATen/core/Tensor.h>

#include <exception>
#include <string>

namespace torch_ir {

struct TensorMeta;

// "[1, 3, 64, 64]"
std::string shape_list_text(c10::IntArrayRef shape);

// All that `tensor` has otherwise than the graph says: "shape [1, 4], expected [1, 8], and dtype
// float64, expected float32", or the layout, which is strided; empty when it fits. A size that
// differs from run to run may be any.
std::string describe_difference(const at::Tensor& tensor, const TensorMeta& meta);

// What `error` says; of LibTorch's, one line that a person would read, without the stack trace.
std::string message_text(const std::exception& error);

}  // namespace torch_ir
