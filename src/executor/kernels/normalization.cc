#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/structured.h"

#include <ATen/ops/_log_softmax_native.h>
#include <ATen/ops/_softmax_native.h>

namespace torch_ir {
namespace {

constexpr KernelEntry kKernels[] = {
    {"aten::_log_softmax", &Structured<at::native::structured_log_softmax_cpu_out>::prepare},
    {"aten::_softmax", &Structured<at::native::structured_softmax_cpu_out>::prepare},
};

}  // namespace

KernelTable normalization_kernels() { return kKernels; }

}  // namespace torch_ir
