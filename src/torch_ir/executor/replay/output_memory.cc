#include "torch_ir/executor/replay/output_memory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

namespace torch_ir {
at::Tensor make_tensor(const c10::Storage& storage, const TraceTensor& traced) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(traced.dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(traced.sizes, traced.strides, traced.offset);
  return tensor;
}

// The caller may have resized what it got.
bool OutputMemory::is_unshared() const {
  if (!storage_ || storage_.data() != data_ || storage_.nbytes() != bytes_) return false;
  const bool are_released = std::ranges::all_of(returned_, [](const Returned& returned) {
    return returned.tensor.use_count() == 1 && returned.tensor.weak_use_count() == 1;
  });
  return are_released && storage_.use_count() == 1 + returned_.size();
}

void* OutputMemory::take() {
  if (!is_unshared()) {
    returned_.clear();
    c10::Allocator* allocator = c10::GetCPUAllocator();
    storage_ = c10::Storage(c10::Storage::use_byte_size_t(), bytes_, allocator->allocate(bytes_),
                            allocator, /*resizable=*/true);
    data_ = storage_.data();
  }
  return storage_.mutable_data();
}

at::Tensor OutputMemory::tensor(TensorId id, const TraceTensor& traced) {
  const auto found = std::ranges::find(returned_, id, &Returned::id);
  if (found != returned_.end()) {
    // As new: the caller may have made it part of a graph of gradients, or changed its shape.
    const at::Tensor& tensor = found->tensor;
    const bool is_as_new = tensor.key_set() == found->keys && has_layout(tensor, traced) &&
                           tensor.unsafeGetTensorImpl()->autograd_meta() == nullptr &&
                           tensor.is_inference() == c10::InferenceMode::is_enabled() &&
                           tensor.storage().is_alias_of(storage_);
    if (is_as_new) return tensor;
    returned_.erase(found);
  }
  const at::Tensor tensor = make_tensor(storage_, traced);
  returned_.push_back({id, tensor, tensor.key_set()});
  return tensor;
}

}  // namespace torch_ir
