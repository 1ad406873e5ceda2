#include "torch_ir/verifier/tensor_blocks.h"

#include <c10/util/SmallVector.h>

#include <algorithm>

namespace torch_ir {

at::Tensor strided(const at::Tensor& tensor) {
  if (tensor.is_quantized()) return tensor.dequantize();
  return tensor.layout() == c10::kStrided ? tensor : tensor.to_dense();
}

bool for_each_block(c10::ArrayRef<at::Tensor> tensors, BlockVisitor visit, int64_t first) {
  // Fits into caches, and is large enough to hide the overhead of a block.
  constexpr int64_t kBlockSize = 1 << 16;
  using Blocks = c10::SmallVector<at::Tensor, 2>;
  const at::Tensor& shape = tensors.front();
  const int64_t size = shape.numel();
  if (size == 0) return true;
  if (size <= kBlockSize) {
    Blocks plain;
    for (const at::Tensor& block : tensors) {
      plain.push_back(block.cpu().resolve_conj().resolve_neg().contiguous());
    }
    return visit(plain, first);
  }
  int64_t dim = 0;
  while (shape.size(dim) == 1) ++dim;
  const int64_t row = size / shape.size(dim);
  const int64_t rows_at_once = std::max<int64_t>(1, kBlockSize / row);
  for (int64_t i = 0; i < shape.size(dim); i += rows_at_once) {
    const int64_t count = std::min(rows_at_once, shape.size(dim) - i);
    Blocks rows;
    for (const at::Tensor& tensor : tensors) rows.push_back(tensor.narrow(dim, i, count));
    if (!for_each_block(rows, visit, first + i * row)) return false;
  }
  return true;
}

}  // namespace torch_ir
