#include <ATen/ops/all_native.h>
#include <ATen/ops/amax_native.h>
#include <ATen/ops/amin_native.h>
#include <ATen/ops/aminmax_native.h>
#include <ATen/ops/any_native.h>
#include <ATen/ops/argmax_native.h>
#include <ATen/ops/argmin_native.h>
#include <ATen/ops/cumprod_native.h>
#include <ATen/ops/cumsum_native.h>
#include <ATen/ops/linalg_vector_norm_native.h>
#include <ATen/ops/max_native.h>
#include <ATen/ops/mean_native.h>
#include <ATen/ops/min_native.h>
#include <ATen/ops/norm_native.h>
#include <ATen/ops/prod_native.h>
#include <ATen/ops/renorm_native.h>
#include <ATen/ops/sort_native.h>
#include <ATen/ops/std_native.h>
#include <ATen/ops/sum_native.h>
#include <ATen/ops/topk_native.h>
#include <ATen/ops/var_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

struct RunAlongDimension {
  template <class Op, class Found>
  static void impl(Op& op, const Found& found, const at::Tensor& self, int64_t /*dim*/,
                   bool keepdim) {
    op.impl(self, found.dim, keepdim, op.output(0), op.output(1));
  }
};

constexpr auto kProd =
    static_cast<at::Tensor& (*)(const at::Tensor&, std::optional<at::ScalarType>, at::Tensor&)>(
        &at::native::prod_out);

using Spread = at::Tensor& (*)(const at::Tensor&, at::OptionalIntArrayRef,
                               const std::optional<at::Scalar>&, bool, at::Tensor&);
constexpr auto kStd = static_cast<Spread>(&at::native::std_out);
constexpr auto kVar = static_cast<Spread>(&at::native::var_out);

constexpr KernelEntry kReductionKernels[] = {
    {"aten::all", kStructured<at::native::structured_all_all_out>},
    {"aten::all.dim", kStructured<at::native::structured_all_out>},
    {"aten::all.dims", kStructured<at::native::structured_all_dims_out>},
    {"aten::amax", kStructured<at::native::structured_amax_out>},
    {"aten::amin", kStructured<at::native::structured_amin_out>},
    {"aten::aminmax", kStructured<at::native::structured_aminmax_out, 2>},
    {"aten::any", kStructured<at::native::structured_any_all_out>},
    {"aten::any.dim", kStructured<at::native::structured_any_out>},
    {"aten::any.dims", kStructured<at::native::structured_any_dims_out>},
    {"aten::argmax", kStructured<at::native::structured_argmax_out>},
    {"aten::argmin", kStructured<at::native::structured_argmin_out>},
    {"aten::cumprod", kStructured<at::native::structured_cumprod_out>},
    {"aten::cumsum", kStructured<at::native::structured_cumsum_out>},
    {"aten::linalg_vector_norm", kStructured<at::native::structured_linalg_vector_norm_out>},
    {"aten::max", kOutFunction<&at::native::max_unary_out>},
    {"aten::max.dim", kStructured<at::native::structured_max_out, 2, RunAlongDimension>},
    {"aten::mean.dim", kStructured<at::native::structured_mean_out>},
    {"aten::min", kOutFunction<&at::native::min_unary_out>},
    {"aten::min.dim", kStructured<at::native::structured_min_out, 2, RunAlongDimension>},
    {"aten::norm.ScalarOpt_dim", kStructured<at::native::structured_norm_out>},
    {"aten::norm.ScalarOpt_dim_dtype", kStructured<at::native::structured_norm_dtype_out>},
    {"aten::prod", kOutFunction<kProd>},
    {"aten::prod.dim_int", kStructured<at::native::structured_prod_out>},
    {"aten::renorm", kStructured<at::native::structured_renorm_out>},
    {"aten::sort.stable", kStructured<at::native::structured_sort_stable_out, 2>},
    {"aten::std.correction", kOutFunction<kStd>},
    {"aten::sum.dim_IntList", kStructured<at::native::structured_sum_out>},
    {"aten::topk", kStructured<at::native::structured_topk_out_cpu, 2>},
    {"aten::var.correction", kOutFunction<kVar>},
};

}  // namespace

KernelTable reduction_kernels() { return kReductionKernels; }

}  // namespace torch_ir
