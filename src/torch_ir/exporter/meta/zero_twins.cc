#include "torch_ir/exporter/meta/zero_twins.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/meta/meta_kernels.h"

namespace torch_ir {
namespace {

struct Mapping {
  void* address;
  size_t bytes;
};

void unmap(void* context) {
  const std::unique_ptr<Mapping> mapping(static_cast<Mapping*>(context));
  munmap(mapping->address, mapping->bytes);
}

// Without a reservation: what is never written need not fit into memory.
c10::DataPtr map_zeros(size_t bytes) {
  const c10::Device cpu(c10::DeviceType::CPU);
  if (bytes == 0) return {nullptr, cpu};
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    throw Error(fmt::format("can not map {} bytes of zeros: {}", bytes, std::strerror(errno)));
  }
  return {address, new Mapping{address, bytes}, &unmap, cpu};
}

}  // namespace

c10::Storage zero_storage(size_t bytes) {
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, map_zeros(bytes),
                      c10::GetCPUAllocator(), /*resizable=*/true);
}

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
