// Decides which calls are so small that starting threads takes longer than the computation.
#pragma once

#include "torch_ir/runtime/kernels/kernel.h"

namespace torch_ir {

// Whether `call` is small and gives the same bits on one thread as on all. Eager's bits may depend
// on the number of threads, so matrix products and similar operators are tried on random values.
bool fits_one_thread(const KernelCall& call);

}  // namespace torch_ir
