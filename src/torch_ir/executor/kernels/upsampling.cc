#include <ATen/ops/_upsample_bicubic2d_aa_native.h>
#include <ATen/ops/_upsample_bilinear2d_aa_native.h>
#include <ATen/ops/_upsample_nearest_exact1d_native.h>
#include <ATen/ops/_upsample_nearest_exact2d_native.h>
#include <ATen/ops/_upsample_nearest_exact3d_native.h>
#include <ATen/ops/upsample_bicubic2d_native.h>
#include <ATen/ops/upsample_bilinear2d_native.h>
#include <ATen/ops/upsample_linear1d_native.h>
#include <ATen/ops/upsample_nearest1d_native.h>
#include <ATen/ops/upsample_nearest2d_native.h>
#include <ATen/ops/upsample_nearest3d_native.h>
#include <ATen/ops/upsample_trilinear3d_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

constexpr KernelEntry kUpsamplingKernels[] = {
    {"aten::upsample_linear1d", kStructured<at::native::structured_upsample_linear1d_out_cpu>},
    {"aten::upsample_bilinear2d", kStructured<at::native::structured_upsample_bilinear2d_out_cpu>},
    {"aten::_upsample_bilinear2d_aa",
     kStructured<at::native::structured__upsample_bilinear2d_aa_out_cpu>},
    {"aten::upsample_bicubic2d", kStructured<at::native::structured_upsample_bicubic2d_out_cpu>},
    {"aten::_upsample_bicubic2d_aa",
     kStructured<at::native::structured__upsample_bicubic2d_aa_out_cpu>},
    {"aten::upsample_trilinear3d",
     kStructured<at::native::structured_upsample_trilinear3d_out_cpu>},
    {"aten::upsample_nearest1d", kStructured<at::native::structured_upsample_nearest1d_out_cpu>},
    {"aten::_upsample_nearest_exact1d",
     kStructured<at::native::structured__upsample_nearest_exact1d_out_cpu>},
    {"aten::upsample_nearest2d", kStructured<at::native::structured_upsample_nearest2d_out_cpu>},
    {"aten::_upsample_nearest_exact2d",
     kStructured<at::native::structured__upsample_nearest_exact2d_out_cpu>},
    {"aten::upsample_nearest3d", kStructured<at::native::structured_upsample_nearest3d_out_cpu>},
    {"aten::_upsample_nearest_exact3d",
     kStructured<at::native::structured__upsample_nearest_exact3d_out_cpu>},
};

}  // namespace

KernelTable upsampling_kernels() { return kUpsamplingKernels; }

}  // namespace torch_ir
