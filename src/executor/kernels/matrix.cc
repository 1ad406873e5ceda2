#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/structured.h"

#include <ATen/ops/_addmm_activation_native.h>
#include <ATen/ops/addmm_native.h>
#include <ATen/ops/addmv_native.h>
#include <ATen/ops/baddbmm_native.h>
#include <ATen/ops/bmm_native.h>
#include <ATen/ops/linalg_cross_native.h>
#include <ATen/ops/mm_native.h>
#include <ATen/ops/tril_native.h>
#include <ATen/ops/triu_native.h>

namespace torch_ir {
namespace {

constexpr KernelEntry kKernels[] = {
    {"aten::_addmm_activation", &Structured<at::native::structured_addmm_activation_out_cpu>::prepare},
    {"aten::addmm", &Structured<at::native::structured_addmm_out_cpu>::prepare},
    {"aten::addmv", &Structured<at::native::structured_addmv_out_cpu>::prepare},
    {"aten::baddbmm", &Structured<at::native::structured_baddbmm_out_cpu>::prepare},
    {"aten::bmm", &Structured<at::native::structured_bmm_out_cpu>::prepare},
    {"aten::mm", &Structured<at::native::structured_mm_out_cpu>::prepare},
    {"aten::linalg_cross", &Structured<at::native::structured_linalg_cross_out>::prepare},
    {"aten::triu", &Structured<at::native::structured_triu_cpu>::prepare},
    {"aten::tril", &Structured<at::native::structured_tril_cpu>::prepare},
};

}  // namespace

KernelTable matrix_kernels() { return kKernels; }

}  // namespace torch_ir
