// Tensors over the bytes of a storage: where files meet tensors.
//
// Used by the readers of files of weights. Those of `.pt` and `.pt2` say a tensor as PyTorch does:
// a whole storage, and where in it the elements are. Nothing from a file is believed: every element
// must lie inside the storage.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/base/file.h"

namespace torch_ir {

// Whether tensors can use `bytes` in place: whether they are aligned to `element_alignment` and,
// unless they are more than 1 MiB, as LibTorch's allocator aligns (64 bytes). The last bits of a
// matrix product may depend on the alignment of its operands, so small tensors get that of the
// allocator: what was computed before a file was written is then computed from the file as well.
bool is_usable_in_place(const ByteRange& bytes, size_t element_alignment);

// Where the elements of a tensor are in its storage; offset and strides count elements.
struct TensorView {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t storage_offset = 0;
};

// `bytes` as the storage of CPU tensors; it keeps them alive. They are used in place where they can
// be, aligned for every dtype (16 bytes). Others are copied, once, here. Tensors that share memory
// share one storage.
c10::Storage make_storage(const ByteRange& bytes);

// The whole file at `path`, mapped. Throws WeightError.
ByteRange map_weights(const std::string& path);

// The tensor that `view` describes; it shares the memory of `storage`, and needs no gradient.
// Throws WeightError, which does not name the tensor, where an element would lie outside, where
// there are more than 64 dimensions or not a stride for each, or where a size or stride is negative
// or a number overflows: "shape [2, 3] with strides [3, 1] at offset 1 needs 28 bytes, but the
// storage has 24". A tensor without elements needs no bytes.
at::Tensor make_tensor(const c10::Storage& storage, const TensorView& view);

}  // namespace torch_ir
