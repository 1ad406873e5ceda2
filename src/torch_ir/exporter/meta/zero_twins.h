// ZeroTwins: CPU tensors of zeros in place of meta tensors, with the same sizes, strides and
// storage sharing.
//
// Used where an operator runs on the CPU to show the shape of its result. They cost nothing until
// they are written: a weight of many gigabytes is a range of addresses over the kernel's one zero
// page.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch_ir {

// A resizable CPU storage of `bytes` zeros. Throws Error when the address space does not suffice.
c10::Storage zero_storage(size_t bytes);

class ZeroTwins {
 public:
  using Pair = std::pair<at::Tensor, at::Tensor>;

  // The twin of `meta`, the same each time. Throws c10::NotImplementedError unless it is dense.
  at::Tensor of(const at::Tensor& meta);

  // Each meta tensor with its twin, in the order in which they were asked for.
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  c10::Storage storage_of(const at::Tensor& meta);

  std::vector<Pair> pairs_;
  std::unordered_map<const c10::StorageImpl*, c10::Storage> storages_;
};

}  // namespace torch_ir
