// Copies between tensors that stay where they are, as a kernel of its own and as a part of others.
#pragma once

#include <memory>

#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {

// What aten::copy_ does for `call`, of which both tensors are arguments or outputs, or views of
// them. Null for tensors that are not plain (conjugated, quantized, ...).
std::unique_ptr<PreparedKernel> prepare_copy(const KernelCall& call, const at::Tensor& to,
                                             const at::Tensor& from);

}  // namespace torch_ir
