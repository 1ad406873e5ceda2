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
    {"aten::eq.Scalar", kStructured<at::native::structured_eq_Scalar_out>},
    {"aten::eq.Tensor", kStructured<at::native::structured_eq_Tensor_out>},
    {"aten::ge.Scalar", kStructured<at::native::structured_ge_Scalar_out>},
    {"aten::ge.Tensor", kStructured<at::native::structured_ge_Tensor_out>},
    {"aten::gt.Scalar", kStructured<at::native::structured_gt_Scalar_out>},
    {"aten::gt.Tensor", kStructured<at::native::structured_gt_Tensor_out>},
    {"aten::isin.Tensor_Scalar", kStructured<at::native::structured_isin_Tensor_Scalar_out>},
    {"aten::isin.Tensor_Tensor", kStructured<at::native::structured_isin_Tensor_Tensor_out>},
    {"aten::le.Scalar", kStructured<at::native::structured_le_Scalar_out>},
    {"aten::le.Tensor", kStructured<at::native::structured_le_Tensor_out>},
    {"aten::logical_and", kOutFunction<&at::native::logical_and_out>},
    {"aten::logical_or", kOutFunction<&at::native::logical_or_out>},
    {"aten::logical_xor", kOutFunction<&at::native::logical_xor_out>},
    {"aten::lt.Scalar", kStructured<at::native::structured_lt_Scalar_out>},
    {"aten::lt.Tensor", kStructured<at::native::structured_lt_Tensor_out>},
    {"aten::ne.Scalar", kStructured<at::native::structured_ne_Scalar_out>},
    {"aten::ne.Tensor", kStructured<at::native::structured_ne_Tensor_out>},
};

}  // namespace

KernelTable comparison_kernels() { return kComparisonKernels; }

}  // namespace torch_ir
