#include "torch_ir/verifier/tensor_blocks.h"

#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstring>

namespace torch_ir {
namespace {

// Fits into caches, and is large enough to hide the overhead of a block.
constexpr int64_t kBlockSize = 1 << 16;

using Blocks = c10::SmallVector<at::Tensor, 2>;

template <class Function>
Blocks map_blocks(c10::ArrayRef<at::Tensor> tensors, const Function& function) {
  Blocks blocks;
  for (const at::Tensor& tensor : tensors) blocks.push_back(function(tensor));
  return blocks;
}

}  // namespace

at::Tensor strided(const at::Tensor& tensor) {
  if (tensor.is_quantized()) return tensor.dequantize();
  return tensor.layout() == c10::kStrided ? tensor : tensor.to_dense();
}

bool for_each_block(c10::ArrayRef<at::Tensor> tensors, BlockVisitor visit, int64_t first) {
  const at::Tensor& shape = tensors.front();
  const int64_t size = shape.numel();
  if (size == 0) return true;
  if (size <= kBlockSize) {
    const Blocks plain = map_blocks(tensors, [](const at::Tensor& block) {
      return block.cpu().resolve_conj().resolve_neg().contiguous();
    });
    return visit(plain, first);
  }
  int64_t dim = 0;
  while (shape.size(dim) == 1) ++dim;
  const int64_t row = size / shape.size(dim);
  const int64_t rows_at_once = std::max<int64_t>(1, kBlockSize / row);
  for (int64_t i = 0; i < shape.size(dim); i += rows_at_once) {
    const int64_t count = std::min(rows_at_once, shape.size(dim) - i);
    const Blocks rows =
        map_blocks(tensors, [&](const at::Tensor& tensor) { return tensor.narrow(dim, i, count); });
    if (!for_each_block(rows, visit, first + i * row)) return false;
  }
  return true;
}

bool have_equal_bits(const at::Tensor& actual, const at::Tensor& expected) {
  return actual.scalar_type() == expected.scalar_type() &&
         for_each_block({actual, expected}, [](c10::ArrayRef<at::Tensor> blocks, int64_t) {
           return std::memcmp(blocks[0].const_data_ptr(), blocks[1].const_data_ptr(),
                              blocks[0].nbytes()) == 0;
         });
}

}  // namespace torch_ir
