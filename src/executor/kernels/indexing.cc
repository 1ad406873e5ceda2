#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/structured.h"

#include <ATen/ops/gather_native.h>
#include <ATen/ops/scatter_native.h>
#include <ATen/ops/scatter_add_native.h>
#include <ATen/ops/scatter_reduce_native.h>

namespace torch_ir {
namespace {

constexpr KernelEntry kKernels[] = {
    {"aten::gather", &Structured<at::native::structured_gather_out>::prepare},
    {"aten::scatter.src", &Structured<at::native::structured_scatter_src_out>::prepare},
    {"aten::scatter.value", &Structured<at::native::structured_scatter_value_out>::prepare},
    {"aten::scatter.reduce", &Structured<at::native::structured_scatter_reduce_out>::prepare},
    {"aten::scatter.value_reduce", &Structured<at::native::structured_scatter_value_reduce_out>::prepare},
    {"aten::scatter_add", &Structured<at::native::structured_scatter_add>::prepare},
    {"aten::scatter_reduce.two", &Structured<at::native::structured_scatter_reduce_two>::prepare},
};

}  // namespace

KernelTable indexing_kernels() { return kKernels; }

}  // namespace torch_ir
