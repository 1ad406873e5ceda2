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
    {"aten::reflection_pad1d", kStructured<at::native::structured_reflection_pad1d_out_cpu>},
    {"aten::reflection_pad2d", kOutFunction<&at::native::reflection_pad2d_out_cpu>},
    {"aten::reflection_pad3d", kStructured<at::native::structured_reflection_pad3d_out_cpu>},
    {"aten::replication_pad1d", kStructured<at::native::structured_replication_pad1d_out_cpu>},
    {"aten::replication_pad2d", kStructured<at::native::structured_replication_pad2d_out_cpu>},
    {"aten::replication_pad3d", kStructured<at::native::structured_replication_pad3d_out_cpu>},
};

}  // namespace

KernelTable padding_kernels() { return kPaddingKernels; }

}  // namespace torch_ir
