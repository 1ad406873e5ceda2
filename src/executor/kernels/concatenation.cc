#include <ATen/ops/_stack_native.h>
#include <ATen/ops/cat_native.h>
#include <ATen/ops/stack_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/precomputed.h"

namespace torch_ir {
namespace {

struct RunCat {
  template <class Op, class Found>
  static void impl(Op& op, const Found& found, const at::ITensorListRef& tensors, int64_t /*dim*/) {
    op.impl(tensors, found.dim, found.valid, found.all_contiguous, found.all_same_dtype,
            found.all_same_sizes_and_stride, found.memory_format, op.output(0));
  }
};

constexpr KernelEntry kKernels[] = {
    {"aten::_stack", &OutFunction<&at::native::_stack_out_cpu>::prepare},
    {"aten::cat", &Precomputed<at::native::structured_cat_out_cpu, 1, RunCat>::prepare},
    {"aten::stack", &OutFunction<&at::native::stack_out>::prepare},
};

}  // namespace

KernelTable concatenation_kernels() { return kKernels; }

}  // namespace torch_ir
