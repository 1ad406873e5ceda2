// Copies tensors with given strides: a call on a transposed, sliced or expanded tensor differs from
// one on a contiguous tensor.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

namespace torch_ir {

// Copies `tensor` with `strides`, one for each dimension, not negative; for repeated elements
// (stride 0), the first is used. Throws Error if other elements would interleave or share memory,
// or for more than kMaxStridedBytes.
at::Tensor strided_copy(const at::Tensor& tensor, at::IntArrayRef strides);

}  // namespace torch_ir
