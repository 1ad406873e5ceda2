// for_each_block: reads tensors of any size, layout and device in blocks, so that memory stays
// small.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace torch_ir {

// Makes `tensor` dense and not quantized, so that strides describe its elements.
at::Tensor strided(const at::Tensor& tensor);

// Takes the block of each tensor at position `first`, contiguous and on the CPU. Returns whether to
// continue.
using BlockVisitor = c10::function_ref<bool(c10::ArrayRef<at::Tensor> blocks, int64_t first)>;

// Visits strided tensors of one shape in row-major order; `first` is the position of their first
// element. Returns whether it visited all blocks.
bool for_each_block(c10::ArrayRef<at::Tensor> tensors, BlockVisitor visit, int64_t first = 0);

}  // namespace torch_ir
