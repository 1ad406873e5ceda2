// The values of max_pool2d where nobody asks for the positions of the maxima.
#pragma once

#include <memory>

#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {

// aten::max_pool2d_with_indices of contiguous float images; null for all others.
std::unique_ptr<PreparedKernel> prepare_max_pool2d_values(const KernelCall& call);

}  // namespace torch_ir
