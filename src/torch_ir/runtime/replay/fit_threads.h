// Decides which calls are so small that starting threads takes longer than computing.
#pragma once

#include "torch_ir/runtime/kernels/kernel.h"

namespace torch_ir {

// Whether `call` is small, and one thread gives the same bits as all: eager's bits may depend on
// how many threads share the work. Matrix products and the like are tried on values made up.
bool fits_one_thread(const KernelCall& call);

}  // namespace torch_ir
