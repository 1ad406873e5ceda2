#include <ATen/ops/eq_native.h>
#include <ATen/ops/ge_native.h>
#include <ATen/ops/gt_native.h>
#include <ATen/ops/isin_native.h>
#include <ATen/ops/le_native.h>
#include <ATen/ops/logical_and_native.h>
#include <ATen/ops/logical_or_native.h>
#include <ATen/ops/logical_xor_native.h>
#include <ATen/ops/lt_native.h>
#include <ATen/ops/ne_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

constexpr KernelEntry kComparisonKernels[] = {
    {"aten::eq.Scalar", &Structured<at::native::structured_eq_Scalar_out>::prepare},
    {"aten::eq.Tensor", &Structured<at::native::structured_eq_Tensor_out>::prepare},
    {"aten::ge.Scalar", &Structured<at::native::structured_ge_Scalar_out>::prepare},
    {"aten::ge.Tensor", &Structured<at::native::structured_ge_Tensor_out>::prepare},
    {"aten::gt.Scalar", &Structured<at::native::structured_gt_Scalar_out>::prepare},
    {"aten::gt.Tensor", &Structured<at::native::structured_gt_Tensor_out>::prepare},
    {"aten::isin.Tensor_Scalar",
     &Structured<at::native::structured_isin_Tensor_Scalar_out>::prepare},
    {"aten::isin.Tensor_Tensor",
     &Structured<at::native::structured_isin_Tensor_Tensor_out>::prepare},
    {"aten::le.Scalar", &Structured<at::native::structured_le_Scalar_out>::prepare},
    {"aten::le.Tensor", &Structured<at::native::structured_le_Tensor_out>::prepare},
    {"aten::logical_and", &OutFunction<&at::native::logical_and_out>::prepare},
    {"aten::logical_or", &OutFunction<&at::native::logical_or_out>::prepare},
    {"aten::logical_xor", &OutFunction<&at::native::logical_xor_out>::prepare},
    {"aten::lt.Scalar", &Structured<at::native::structured_lt_Scalar_out>::prepare},
    {"aten::lt.Tensor", &Structured<at::native::structured_lt_Tensor_out>::prepare},
    {"aten::ne.Scalar", &Structured<at::native::structured_ne_Scalar_out>::prepare},
    {"aten::ne.Tensor", &Structured<at::native::structured_ne_Tensor_out>::prepare},
};

}  // namespace

KernelTable comparison_kernels() { return kComparisonKernels; }

}  // namespace torch_ir
