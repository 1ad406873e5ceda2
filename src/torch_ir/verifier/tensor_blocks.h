// Reading tensors of any size, layout and device a block of elements at a time, so that memory
// stays small. For comparisons and statistics.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace torch_ir {

// `tensor` in a form whose elements can be told apart by strides: dense, and not quantized.
at::Tensor strided(const at::Tensor& tensor);

// Takes the block of each tensor that begins at position `first`, all contiguous and on the CPU.
// Returns whether to go on.
using BlockVisitor = c10::function_ref<bool(c10::ArrayRef<at::Tensor> blocks, int64_t first)>;

// Visits strided tensors of one shape in row-major order; `first` is the position of their first
// element. Returns whether all was visited.
bool for_each_block(c10::ArrayRef<at::Tensor> tensors, BlockVisitor visit, int64_t first = 0);

// Both are strided and of one shape. False for tensors of two dtypes.
bool have_equal_bits(const at::Tensor& actual, const at::Tensor& expected);

}  // namespace torch_ir
