// The tables of kernels, one for each family of operators.
//
// find_kernel (kernel_table.cc) looks operators up in all of them. A new kernel is a line in the
// table of its family, and a case in the family's test.
#pragma once

#include <span>
#include <string_view>

#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {

struct KernelEntry {
  std::string_view operator_name;
  PrepareKernel prepare;
};

using KernelTable = std::span<const KernelEntry>;

KernelTable activation_kernels();
KernelTable arithmetic_kernels();
KernelTable attention_kernels();
KernelTable comparison_kernels();
KernelTable concatenation_kernels();
KernelTable convolution_kernels();
KernelTable copying_kernels();
KernelTable indexing_kernels();
KernelTable matrix_kernels();
KernelTable normalization_kernels();
KernelTable padding_kernels();
KernelTable pooling_kernels();
KernelTable reduction_kernels();
KernelTable selection_kernels();
KernelTable unary_kernels();
KernelTable upsampling_kernels();

}  // namespace torch_ir
