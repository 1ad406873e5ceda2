// Tensors over the bytes of a storage: where files meet tensors.
//
// Used by the readers of `.pt` and `.pt2` files, which say a tensor as PyTorch does: a whole
// storage, and where in it the elements are. Nothing from a file is believed: every element must lie
// inside the storage.
#ifndef TORCH_IR_WEIGHTS_STORAGE_TENSOR_H_
#define TORCH_IR_WEIGHTS_STORAGE_TENSOR_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "torch_ir/base/byte_range.h"

namespace torch_ir {

// Where the elements of a tensor are in its storage; offset and strides count elements.
struct TensorView {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t storage_offset = 0;
};

// `bytes` as the storage of CPU tensors; it keeps them alive. They are used in place, unless they
// are misaligned for elements of `dtype`, or are at most 1 MiB and not aligned as LibTorch's
// allocator does (64 bytes): those are copied, once, here, so that what is computed from them has
// the same bits as before they were saved. Tensors that share memory share one storage.
c10::Storage make_storage(const ByteRange& bytes, c10::ScalarType dtype);

// The tensor that `view` describes; it shares the memory of `storage`, and needs no gradient.
// Throws WeightError, which does not name the tensor, where an element would lie outside, where
// there are more than 64 dimensions or not a stride for each, or where a size or stride is negative
// or a number overflows: "shape [2, 3] with strides [3, 1] at offset 1 needs 28 bytes, but the
// storage has 24". A tensor without elements needs no bytes.
at::Tensor make_tensor(const c10::Storage& storage, const TensorView& view);

// Turns big-endian elements of `dtype` into the machine's order, or back; a complex number has two.
// `size` is a multiple of the size of an element.
void swap_bytes(std::byte* data, size_t size, c10::ScalarType dtype);

}  // namespace torch_ir

#endif  // TORCH_IR_WEIGHTS_STORAGE_TENSOR_H_
