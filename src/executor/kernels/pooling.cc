#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/structured.h"

#include <ATen/ops/adaptive_max_pool2d_native.h>
#include <ATen/ops/adaptive_max_pool3d_native.h>
#include <ATen/ops/avg_pool3d_native.h>
#include <ATen/ops/max_pool2d_with_indices_native.h>

namespace torch_ir {
namespace {

constexpr KernelEntry kKernels[] = {
    {"aten::adaptive_max_pool2d", &Structured<at::native::structured_adaptive_max_pool2d_out_cpu, 2>::prepare},
    {"aten::adaptive_max_pool3d", &Structured<at::native::structured_adaptive_max_pool3d_out_cpu, 2>::prepare},
    {"aten::avg_pool3d", &Structured<at::native::structured_avg_pool3d_out_cpu>::prepare},
    {"aten::max_pool2d_with_indices", &Structured<at::native::structured_max_pool2d_with_indices_out_cpu, 2>::prepare},
};

}  // namespace

KernelTable pooling_kernels() { return kKernels; }

}  // namespace torch_ir
