#include <ATen/ops/reflection_pad1d_native.h>
#include <ATen/ops/reflection_pad2d_native.h>
#include <ATen/ops/reflection_pad3d_native.h>
#include <ATen/ops/replication_pad1d_native.h>
#include <ATen/ops/replication_pad2d_native.h>
#include <ATen/ops/replication_pad3d_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

constexpr KernelEntry kPaddingKernels[] = {
    {"aten::reflection_pad1d",
     &Structured<at::native::structured_reflection_pad1d_out_cpu>::prepare},
    {"aten::reflection_pad2d", &OutFunction<&at::native::reflection_pad2d_out_cpu>::prepare},
    {"aten::reflection_pad3d",
     &Structured<at::native::structured_reflection_pad3d_out_cpu>::prepare},
    {"aten::replication_pad1d",
     &Structured<at::native::structured_replication_pad1d_out_cpu>::prepare},
    {"aten::replication_pad2d",
     &Structured<at::native::structured_replication_pad2d_out_cpu>::prepare},
    {"aten::replication_pad3d",
     &Structured<at::native::structured_replication_pad3d_out_cpu>::prepare},
};

}  // namespace

KernelTable padding_kernels() { return kPaddingKernels; }

}  // namespace torch_ir
