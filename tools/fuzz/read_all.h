// read_all: checks that tensors lie within their storages.
#pragma once

#include <cstdlib>
#include <numeric>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The bytes from the beginning of the storage to the end of the last element, counted without
// overflow.
inline __int128 end_of(const at::Tensor& tensor) {
  __int128 last = tensor.storage_offset();
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) == 0) return 0;
    last += static_cast<__int128>(tensor.size(i) - 1) * tensor.stride(i);
  }
  return (last + 1) * static_cast<__int128>(tensor.element_size());
}

// Reads every byte of the storages of `tensors`, and ends the process if an element lies outside
// its storage.
inline void read_all(const StateDict& tensors) {
  for (const auto& item : tensors) {
    const c10::Storage& storage = item.value().storage();
    if (end_of(item.value()) > static_cast<__int128>(storage.nbytes())) std::abort();
    const auto* bytes = static_cast<const unsigned char*>(storage.data());
    const volatile unsigned sum = std::accumulate(bytes, bytes + storage.nbytes(), 0u);
    static_cast<void>(sum);
  }
}

}  // namespace torch_ir
