#include "torch_ir/executor/kernels/normalization.h"

#include <ATen/ops/_log_softmax_native.h>
#include <ATen/ops/_softmax_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

constexpr KernelEntry kNormalizationKernels[] = {
    {"aten::_log_softmax", &Structured<at::native::structured_log_softmax_cpu_out>::prepare},
    {"aten::_native_batch_norm_legit", &prepare_batch_norm},
    {"aten::_softmax", &Structured<at::native::structured_softmax_cpu_out>::prepare},
    {"aten::native_batch_norm", &prepare_batch_norm},
    {"aten::native_group_norm", &prepare_group_norm},
    {"aten::native_layer_norm", &prepare_layer_norm},
};

}  // namespace

KernelTable normalization_kernels() { return kNormalizationKernels; }

}  // namespace torch_ir
