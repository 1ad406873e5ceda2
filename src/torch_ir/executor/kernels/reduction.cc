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
#include "torch_ir/executor/kernels/precomputed.h"

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
    {"aten::all", &Structured<at::native::structured_all_all_out>::prepare},
    {"aten::all.dim", &Structured<at::native::structured_all_out>::prepare},
    {"aten::all.dims", &Structured<at::native::structured_all_dims_out>::prepare},
    {"aten::amax", &Structured<at::native::structured_amax_out>::prepare},
    {"aten::amin", &Structured<at::native::structured_amin_out>::prepare},
    {"aten::aminmax", &Structured<at::native::structured_aminmax_out, 2>::prepare},
    {"aten::any", &Structured<at::native::structured_any_all_out>::prepare},
    {"aten::any.dim", &Structured<at::native::structured_any_out>::prepare},
    {"aten::any.dims", &Structured<at::native::structured_any_dims_out>::prepare},
    {"aten::argmax", &Structured<at::native::structured_argmax_out>::prepare},
    {"aten::argmin", &Structured<at::native::structured_argmin_out>::prepare},
    {"aten::cumprod", &Structured<at::native::structured_cumprod_out>::prepare},
    {"aten::cumsum", &Structured<at::native::structured_cumsum_out>::prepare},
    {"aten::linalg_vector_norm",
     &Structured<at::native::structured_linalg_vector_norm_out>::prepare},
    {"aten::max", &OutFunction<&at::native::max_unary_out>::prepare},
    {"aten::max.dim", &Precomputed<at::native::structured_max_out, 2, RunAlongDimension>::prepare},
    {"aten::mean.dim", &Structured<at::native::structured_mean_out>::prepare},
    {"aten::min", &OutFunction<&at::native::min_unary_out>::prepare},
    {"aten::min.dim", &Precomputed<at::native::structured_min_out, 2, RunAlongDimension>::prepare},
    {"aten::norm.ScalarOpt_dim", &Structured<at::native::structured_norm_out>::prepare},
    {"aten::norm.ScalarOpt_dim_dtype", &Structured<at::native::structured_norm_dtype_out>::prepare},
    {"aten::prod", &OutFunction<kProd>::prepare},
    {"aten::prod.dim_int", &Structured<at::native::structured_prod_out>::prepare},
    {"aten::renorm", &Structured<at::native::structured_renorm_out>::prepare},
    {"aten::sort.stable", &Structured<at::native::structured_sort_stable_out, 2>::prepare},
    {"aten::std.correction", &OutFunction<kStd>::prepare},
    {"aten::sum.dim_IntList", &Structured<at::native::structured_sum_out>::prepare},
    {"aten::topk", &Structured<at::native::structured_topk_out_cpu, 2>::prepare},
    {"aten::var.correction", &OutFunction<kVar>::prepare},
};

}  // namespace

KernelTable reduction_kernels() { return kReductionKernels; }

}  // namespace torch_ir
