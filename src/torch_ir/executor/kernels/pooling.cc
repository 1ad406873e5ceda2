#include <ATen/ops/adaptive_avg_pool2d_native.h>
#include <ATen/ops/adaptive_max_pool2d_native.h>
#include <ATen/ops/adaptive_max_pool3d_native.h>
#include <ATen/ops/avg_pool2d_native.h>
#include <ATen/ops/avg_pool3d_native.h>
#include <ATen/ops/max_pool2d_with_indices_native.h>
#include <ATen/ops/max_pool3d_with_indices_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/max_pool.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/precomputed.h"

namespace torch_ir {
namespace {

struct RunAvgPool2d {
  template <class Op, class Found>
  static void impl(Op& op, const Found& found, const at::Tensor& self,
                   at::IntArrayRef /*kernel_size*/, at::IntArrayRef /*stride*/,
                   at::IntArrayRef /*padding*/, bool ceil_mode, bool count_include_pad,
                   std::optional<int64_t> divisor_override) {
    op.impl(self, found.kH, found.kW, found.dH, found.dW, found.padH, found.padW, ceil_mode,
            count_include_pad, divisor_override, op.output(0));
  }
};

std::unique_ptr<PreparedKernel> prepare_max_pool2d(const KernelCall& call) {
  if (!call.is_used[1]) {
    if (auto kernel = prepare_max_pool2d_values(call)) return kernel;
  }
  return Structured<at::native::structured_max_pool2d_with_indices_out_cpu, 2>::prepare(call);
}

constexpr KernelEntry kPoolingKernels[] = {
    {"aten::_adaptive_avg_pool2d", &OutFunction<&at::native::adaptive_avg_pool2d_out_cpu>::prepare},
    {"aten::adaptive_max_pool2d",
     &Structured<at::native::structured_adaptive_max_pool2d_out_cpu, 2>::prepare},
    {"aten::adaptive_max_pool3d",
     &Structured<at::native::structured_adaptive_max_pool3d_out_cpu, 2>::prepare},
    {"aten::avg_pool2d",
     &Precomputed<at::native::structured_avg_pool2d_out_cpu, 1, RunAvgPool2d>::prepare},
    {"aten::avg_pool3d", &Structured<at::native::structured_avg_pool3d_out_cpu>::prepare},
    {"aten::max_pool2d_with_indices", &prepare_max_pool2d},
    {"aten::max_pool3d_with_indices",
     &OutFunction<&at::native::max_pool3d_with_indices_out_cpu, 2>::prepare},
};

}  // namespace

KernelTable pooling_kernels() { return kPoolingKernels; }

}  // namespace torch_ir
