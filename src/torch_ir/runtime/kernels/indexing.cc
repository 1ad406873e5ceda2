#include <ATen/Parallel.h>

#include <cstring>

#include "torch_ir/runtime/kernels/families.h"
#include "torch_ir/runtime/kernels/structured.h"

namespace torch_ir {
namespace {

struct RunIndex {
  template <class Op, class Found>
  static void impl(Op& op, const Found& found, const at::Tensor& self,
                   at::IOptTensorListRef /*indices*/) {
    op.impl(self, found.sizes, found.strides, op.output(0));
  }
};

// Only 64-bit positions are read again in every run: `meta` converts masks and other integers once.
std::unique_ptr<PreparedKernel> prepare_index(const KernelCall& call) {
  for (const std::optional<at::Tensor>& index : call.arguments[1].toOptionalTensorVector()) {
    if (index && index->defined() && index->scalar_type() != at::kLong) return nullptr;
  }
  return kStructured<at::native::structured_index_out, 1, RunIndex>(call);
}

template <class Index>
std::unique_ptr<PreparedKernel> select_rows(const KernelCall& call) {
  return make_kernel([self = call.arguments[0].toTensor(), index = call.arguments[2].toTensor(),
                      output = call.outputs[0],
                      refusal = kOutFunction<&at::native::index_select_out_cpu_>(call)] {
    const auto* rows = static_cast<const char*>(self.const_data_ptr());
    const auto* numbers = static_cast<const Index*>(index.const_data_ptr());
    auto* to = static_cast<char*>(output.mutable_data_ptr());
    const int64_t limit = self.size(0);
    const size_t row_bytes = self.nbytes() / static_cast<size_t>(limit);
    const int64_t count = index.numel();
    for (int64_t i = 0; i < count; ++i) {
      // ATen throws the error.
      if (numbers[i] < 0 || numbers[i] >= limit) return refusal->run();
      std::memcpy(to, rows + static_cast<size_t>(numbers[i]) * row_bytes, row_bytes);
      to += row_bytes;
    }
  });
}

std::unique_ptr<PreparedKernel> prepare_index_select(const KernelCall& call) {
  const at::Tensor& self = call.arguments[0].toTensor();
  const at::Tensor& index = call.arguments[2].toTensor();
  const at::Tensor& output = call.outputs[0];
  const bool in_one_thread =
      output.numel() < at::internal::GRAIN_SIZE || at::get_num_threads() == 1;
  const bool selects_rows = in_one_thread && call.arguments[1].toInt() == 0 && self.dim() > 0 &&
                            self.is_contiguous() && index.dim() <= 1 && index.is_contiguous() &&
                            output.is_contiguous() && output.numel() > 0 &&
                            self.device().is_cpu() && !self.is_conj() && !self.is_neg();
  if (selects_rows && index.scalar_type() == at::kLong) {
    return select_rows<int64_t>(call);
  }
  if (selects_rows && index.scalar_type() == at::kInt) {
    return select_rows<int32_t>(call);
  }
  return kOutFunction<&at::native::index_select_out_cpu_>(call);
}

constexpr KernelEntry kIndexingKernels[] = {
    {"aten::gather", kStructured<at::native::structured_gather_out>},
    {"aten::index.Tensor", &prepare_index},
    {"aten::index_select", &prepare_index_select},
    {"aten::scatter.value", kStructured<at::native::structured_scatter_value_out>},
    {"aten::scatter_reduce.two", kStructured<at::native::structured_scatter_reduce_two>},
};

}  // namespace

KernelTable indexing_kernels() { return kIndexingKernels; }

}  // namespace torch_ir
