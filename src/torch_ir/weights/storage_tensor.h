// Makes tensors from the bytes of a storage. Files are untrusted: every element must lie inside the
// storage.
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

// Whether tensors can use `bytes` in place: `bytes` must be aligned to `element_alignment` and, up
// to 1 MiB, also as LibTorch's allocator aligns (64 bytes). The last bits of a matrix product may
// depend on the alignment of its operands, so this keeps results the same before and after saving.
bool is_usable_in_place(const ByteRange& bytes, size_t element_alignment);

// The layout of a tensor in its storage; offset and strides count elements.
struct TensorView {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t storage_offset = 0;
};

// Wraps `bytes` as a storage on the CPU, which keeps them alive; they are copied unless they are
// aligned for every dtype (16 bytes). Tensors that share memory must share one storage.
c10::Storage make_storage(const ByteRange& bytes);

ByteRange map_weights(const std::string& path);

// Makes the tensor that `view` describes; it shares the memory of `storage`, and needs no gradient.
// Throws WeightError, without the tensor's name, if an element lies outside, for more than 64
// dimensions or a wrong number of strides, and for negative or overflowing numbers: "shape [2, 3]
// with strides [3, 1] at offset 1 needs 28 bytes, but the storage has 24". A tensor without
// elements needs no bytes.
at::Tensor make_tensor(const c10::Storage& storage, const TensorView& view);

}  // namespace torch_ir
