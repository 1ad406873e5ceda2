#include <ATen/ops/gather_native.h>
#include <ATen/ops/index_native.h>
#include <ATen/ops/index_select_native.h>
#include <ATen/ops/scatter_add_native.h>
#include <ATen/ops/scatter_native.h>
#include <ATen/ops/scatter_reduce_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/precomputed.h"

namespace torch_ir {
namespace {

struct RunIndex {
  template <class Op, class Found>
  static void impl(Op& op, const Found& found, const at::Tensor& self,
                   at::IOptTensorListRef /*indices*/) {
    op.impl(self, found.sizes, found.strides, op.output(0));
  }
};

// Positions in 64 bits are read in every run. Of masks and of other integers `meta` makes new
// positions, from what they hold then.
std::unique_ptr<PreparedKernel> prepare_index(const KernelCall& call) {
  for (const std::optional<at::Tensor>& index : call.arguments[1].toOptionalTensorVector()) {
    if (index && index->defined() && index->scalar_type() != at::kLong) return nullptr;
  }
  return Precomputed<at::native::structured_index_out, 1, RunIndex>::prepare(call);
}

constexpr KernelEntry kKernels[] = {
    {"aten::gather", &Structured<at::native::structured_gather_out>::prepare},
    {"aten::index.Tensor", &prepare_index},
    {"aten::index_select", &OutFunction<&at::native::index_select_out_cpu_>::prepare},
    {"aten::scatter.reduce", &Structured<at::native::structured_scatter_reduce_out>::prepare},
    {"aten::scatter.src", &Structured<at::native::structured_scatter_src_out>::prepare},
    {"aten::scatter.value", &Structured<at::native::structured_scatter_value_out>::prepare},
    {"aten::scatter.value_reduce", &Structured<at::native::structured_scatter_value_reduce_out>::prepare},
    {"aten::scatter_add", &Structured<at::native::structured_scatter_add>::prepare},
    {"aten::scatter_reduce.two", &Structured<at::native::structured_scatter_reduce_two>::prepare},
};

}  // namespace

KernelTable indexing_kernels() { return kKernels; }

}  // namespace torch_ir
