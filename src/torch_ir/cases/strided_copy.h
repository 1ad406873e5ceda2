// Copies of tensors that lie in memory as wanted: calls on transposed, sliced and expanded tensors
// are other calls than those on contiguous ones.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

namespace torch_ir {

// A copy of `tensor` with `strides`, one for each dimension, none below 0; of elements that repeat
// (stride 0) the first is taken for all. Throws Error for strides with which other elements would
// lie between one another or share memory, or it would reach farther than kMaxStridedBytes.
at::Tensor strided_copy(const at::Tensor& tensor, at::IntArrayRef strides);

}  // namespace torch_ir
