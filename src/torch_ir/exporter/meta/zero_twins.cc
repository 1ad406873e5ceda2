#include "torch_ir/exporter/meta/zero_twins.h"

#include <ATen/EmptyTensor.h>

#include <algorithm>

#include "torch_ir/exporter/meta/cpu_probe.h"
#include "torch_ir/exporter/meta/zero_memory.h"

namespace torch_ir {

at::Tensor ZeroTwins::of(const at::Tensor& meta) {
  for (const auto& [known, twin] : pairs_) {
    if (known.is_same(meta)) return twin;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(meta.layout() == c10::Layout::Strided && !meta.is_quantized(),
                              "only dense meta tensors have a counterpart on the CPU, not ",
                              meta.layout(), " ", meta.scalar_type());
  auto twin = at::detail::make_tensor<c10::TensorImpl>(
      storage_of(meta), c10::DispatchKeySet(c10::DispatchKey::CPU), meta.dtype());
  c10::TensorImpl* impl = twin.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(meta.sizes(), meta.strides());
  impl->set_storage_offset(meta.storage_offset());
  copy_wrapped_number(meta, twin);
  pairs_.emplace_back(meta, twin);
  return twin;
}

c10::Storage ZeroTwins::storage_of(const at::Tensor& meta) {
  const c10::Storage& storage = meta.storage();
  const size_t used = at::detail::computeStorageNbytes(
      meta.sizes(), meta.strides(), meta.dtype().itemsize(), meta.storage_offset());
  auto [found, is_new] = storages_.try_emplace(storage.unsafeGetStorageImpl());
  if (is_new) found->second = zero_storage(std::max(used, storage.nbytes()));
  TORCH_CHECK(used <= found->second.nbytes(), "a meta tensor reaches to byte ", used,
              " of a storage of ", found->second.nbytes(), " bytes");
  return found->second;
}

}  // namespace torch_ir
