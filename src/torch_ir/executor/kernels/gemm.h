// Matrix products through BLAS, without the work of ATen around them.
#pragma once

#include <memory>

#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {

// aten::addmm and aten::mm of float or double matrices. Null where ATen does more than one call of
// BLAS, and where LibTorch does not bring BLAS.
std::unique_ptr<PreparedKernel> prepare_addmm_with_blas(const KernelCall& call);
std::unique_ptr<PreparedKernel> prepare_mm_with_blas(const KernelCall& call);

}  // namespace torch_ir
