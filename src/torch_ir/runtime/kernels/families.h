// The tables of kernels, one for each family of operators.
//
// find_kernel (kernel_table.cc) searches all of them. A kernel belongs here if a model runs
// measurably faster with it. A new one needs a line in its family's table and a case in the
// family's test.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "torch_ir/runtime/kernels/kernel.h"

namespace torch_ir {

struct KernelEntry {
  std::string_view operator_name;
  PrepareKernel prepare;
};

using KernelTable = std::span<const KernelEntry>;

KernelTable attention_kernels();
KernelTable copying_kernels();
KernelTable indexing_kernels();
KernelTable matrix_kernels();
KernelTable normalization_kernels();
KernelTable plain_kernels();
KernelTable pooling_kernels();

std::vector<KernelTable> kernel_families();

// aten::addmm and aten::mm of float or double matrices through BLAS, without ATen's overhead. Null
// if ATen makes more than one call of BLAS, or if LibTorch lacks BLAS. Declared for tests.
std::unique_ptr<PreparedKernel> prepare_addmm_with_blas(const KernelCall& call);
std::unique_ptr<PreparedKernel> prepare_mm_with_blas(const KernelCall& call);

// The values of aten::max_pool2d_with_indices for contiguous float images; null for others, or if
// the indices are used. Declared for tests.
std::unique_ptr<PreparedKernel> prepare_max_pool2d_values(const KernelCall& call);

}  // namespace torch_ir
