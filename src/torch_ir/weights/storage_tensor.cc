#include "torch_ir/weights/storage_tensor.h"

#include <ATen/core/TensorBody.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/alignment.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"

namespace torch_ir {
namespace {

// Storages up to this size get the alignment of LibTorch's allocator.
constexpr size_t kMaxRealignedStorage = size_t{1} << 20;
// The size of the largest element, complex128.
constexpr size_t kElementAlignment = 16;

std::string view_text(const TensorView& view) {
  return fmt::format("shape [{}] with strides [{}] at offset {}", fmt::join(view.sizes, ", "),
                     fmt::join(view.strides, ", "), view.storage_offset);
}

void check_numbers(const TensorView& view) {
  if (view.sizes.size() != view.strides.size()) {
    throw WeightError(fmt::format("strides [{}] of shape [{}]: expected one for each dimension",
                                  fmt::join(view.strides, ", "), fmt::join(view.sizes, ", ")));
  }
  if (view.sizes.size() > kMaxTensorDims) {
    throw WeightError(fmt::format("{} dimensions; a tensor can have at most {}", view.sizes.size(),
                                  kMaxTensorDims));
  }
  const auto is_negative = [](int64_t number) { return number < 0; };
  if (view.storage_offset < 0 || std::ranges::any_of(view.sizes, is_negative) ||
      std::ranges::any_of(view.strides, is_negative)) {
    throw WeightError(view_text(view) + " has a negative number");
  }
}

// The end of the last element, in bytes from the start of the storage; 0 without elements.
int64_t num_bytes_needed(const TensorView& view) {
  // LibTorch sometimes counts an empty dimension as size 1.
  const auto element_size = static_cast<int64_t>(c10::elementSize(view.dtype));
  int64_t num_bytes = element_size;
  int64_t end = view.storage_offset;
  bool is_too_large = false;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    const int64_t size = std::max<int64_t>(view.sizes[i], 1);
    int64_t distance = 0;
    is_too_large |= __builtin_mul_overflow(num_bytes, size, &num_bytes);
    is_too_large |= __builtin_mul_overflow(size - 1, view.strides[i], &distance);
    is_too_large |= __builtin_add_overflow(end, distance, &end);
  }
  is_too_large |= __builtin_add_overflow(end, 1, &end);
  is_too_large |= __builtin_mul_overflow(end, element_size, &end);
  if (is_too_large) throw WeightError(view_text(view) + " is too large");
  return std::ranges::count(view.sizes, 0) > 0 ? 0 : end;
}

// A view may repeat its memory, with strides of 0 or overlaps; readers read every repeat.
void check_repeats(const at::Tensor& tensor, const TensorView& view) {
  const auto dense = static_cast<uint64_t>(tensor.numel()) * tensor.element_size();
  if (dense > kMaxRepeatedBytes && dense > tensor.storage().nbytes()) {
    throw WeightError(fmt::format("{} repeats {} bytes of memory to {}; the limit is {}",
                                  view_text(view), tensor.storage().nbytes(), dense,
                                  kMaxRepeatedBytes));
  }
}

}  // namespace

bool is_usable_in_place(const ByteRange& bytes, size_t element_alignment) {
  if (bytes.size == 0) return true;
  const size_t alignment = bytes.size <= kMaxRealignedStorage ? c10::gAlignment : element_alignment;
  return reinterpret_cast<uintptr_t>(bytes.data) % alignment == 0;
}

ByteRange map_weights(const std::string& path) {
  try {
    return map_file(path);
  } catch (const Error& error) {
    throw WeightError(error.what());
  }
}

c10::Storage make_storage(const ByteRange& bytes) {
  c10::DataPtr data;
  if (is_usable_in_place(bytes, kElementAlignment)) {
    data = c10::InefficientStdFunctionContext::makeDataPtr(
        bytes.data, [owner = bytes.owner](void*) {}, c10::kCPU);
  } else {
    data = c10::GetCPUAllocator()->allocate(bytes.size);
    std::memcpy(data.get(), bytes.data, bytes.size);
  }
  return {c10::Storage::use_byte_size_t(), bytes.size, std::move(data), nullptr, false};
}

at::Tensor make_tensor(const c10::Storage& storage, const TensorView& view) {
  check_numbers(view);
  const int64_t needed = num_bytes_needed(view);
  if (static_cast<uint64_t>(needed) > storage.nbytes()) {
    throw WeightError(fmt::format("{} needs {} bytes, but the storage has {}", view_text(view),
                                  needed, storage.nbytes()));
  }
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(view.dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(view.sizes, view.strides,
                                                      view.storage_offset);
  check_repeats(tensor, view);
  return tensor;
}

}  // namespace torch_ir
