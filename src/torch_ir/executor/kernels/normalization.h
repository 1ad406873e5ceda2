// Batch, layer and group normalization without the memory that ATen makes on the way.
#pragma once

#include <memory>

#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {

std::unique_ptr<PreparedKernel> prepare_batch_norm(const KernelCall& call);
std::unique_ptr<PreparedKernel> prepare_group_norm(const KernelCall& call);
std::unique_ptr<PreparedKernel> prepare_layer_norm(const KernelCall& call);

// A tensor argument; undefined where it is None.
inline at::Tensor optional_tensor(const c10::IValue& value) {
  return value.isNone() ? at::Tensor() : value.toTensor();
}

inline bool is_contiguous_if_given(const at::Tensor& tensor) {
  return !tensor.defined() || tensor.is_contiguous();
}

}  // namespace torch_ir
