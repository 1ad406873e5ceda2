// Running an operator that was called with meta tensors on the CPU, to see what it returns.
//
// For the Meta kernels only (meta_kernels.h): the fallback runs the whole call on zeros, the shape
// rules run it on a few ones to learn the dtypes of the result.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/operators/call_recording.h"

namespace torch_ir {

// Calls `op` with `arguments`, on the CPU: meta tensors are replaced by what `substitute` gives for
// them, the meta device by the CPU. The random number generator is left as it was, and warnings are
// dropped. Throws c10::Error, naming the operator, when it fails.
torch::jit::Stack call_on_cpu(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                              const TensorMap& substitute);

// The results of operators that have no shape rule: runs `op` on the CPU with zeros and keeps the
// shape, strides and dtype of what it returns.
//
// The CPU sees tensors with the same sizes, strides and storage sharing as the meta tensors, over
// zeros that take no memory until they are written. In-place and out operators return the meta
// tensors they were given, resized as on the CPU; views return views.
//
// It takes as long as the operator does on the CPU, and as much memory as its result. Throws
// c10::Error, naming the operator, when the operator rejects zeros.
torch::jit::Stack run_on_cpu_zeros(const c10::OperatorHandle& op,
                                   c10::ArrayRef<c10::IValue> arguments);

// A resizable CPU storage of `bytes` zeros. Throws Error when the address space does not suffice.
c10::Storage zero_storage(size_t bytes);

// CPU tensors of zeros in place of meta tensors, with the same sizes, strides and storage sharing.
// They cost nothing until they are written: a weight of many gigabytes is a range of addresses over
// the kernel's one zero page.
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
