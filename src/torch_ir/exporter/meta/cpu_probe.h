// Runs operators called with meta tensors on the CPU, for the Meta kernels (meta_kernels.h).
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

// Calls `op` on the CPU, replacing meta tensors with `substitute` and the meta device with the CPU.
// Restores the random number generator and drops warnings. Throws c10::Error, naming the operator,
// if it fails.
torch::jit::Stack call_on_cpu(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                              const TensorMap& substitute);

// Runs `op` on the CPU with zeros, for operators without a shape rule, and returns meta tensors
// with the shape, strides and dtype of its results.
//
// The zeros have the sizes, strides and storage sharing of the meta tensors, and take no memory
// until written. In-place and out operators return their meta arguments, resized as on the CPU;
// views return views.
//
// Takes as long as the operator on the CPU, and as much memory as its result. Throws c10::Error,
// naming the operator, if it rejects zeros.
torch::jit::Stack run_on_cpu_zeros(const c10::OperatorHandle& op,
                                   c10::ArrayRef<c10::IValue> arguments);

// A resizable CPU storage of `bytes` zeros. Throws Error if the address space does not suffice.
c10::Storage zero_storage(size_t bytes);

// CPU tensors of zeros with the sizes, strides and storage sharing of meta tensors. They take no
// memory until written: all pages map the kernel's one zero page.
class ZeroTwins {
 public:
  using Pair = std::pair<at::Tensor, at::Tensor>;

  // The same twin each time. Throws c10::NotImplementedError unless `meta` is dense.
  at::Tensor of(const at::Tensor& meta);

  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  c10::Storage storage_of(const at::Tensor& meta);

  std::vector<Pair> pairs_;
  std::unordered_map<const c10::StorageImpl*, c10::Storage> storages_;
};

}  // namespace torch_ir
