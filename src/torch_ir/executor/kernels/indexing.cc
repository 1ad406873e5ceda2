#include <ATen/Parallel.h>
#include <ATen/ops/gather_native.h>
#include <ATen/ops/index_native.h>
#include <ATen/ops/index_select_native.h>
#include <ATen/ops/scatter_native.h>
#include <ATen/ops/scatter_reduce_native.h>

#include <cstring>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/structured.h"

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
  return kStructured<at::native::structured_index_out, 1, RunIndex>(call);
}

// Rows of a matrix by their numbers, as an embedding takes them.
template <class Index>
class SelectRows final : public PreparedKernel {
 public:
  explicit SelectRows(const KernelCall& call)
      : self_(call.arguments[0].toTensor()),
        index_(call.arguments[2].toTensor()),
        output_(call.outputs[0]),
        refusal_(kOutFunction<&at::native::index_select_out_cpu_>(call)),
        row_bytes_(self_.nbytes() / static_cast<size_t>(self_.size(0))) {}

  void run() override {
    const auto* rows = static_cast<const char*>(self_.const_data_ptr());
    const auto* index = static_cast<const Index*>(index_.const_data_ptr());
    auto* output = static_cast<char*>(output_.mutable_data_ptr());
    const auto limit = static_cast<Index>(self_.size(0));
    const int64_t count = index_.numel();
    for (int64_t i = 0; i < count; ++i) {
      // Its message is ATen's.
      if (index[i] < 0 || index[i] >= limit) return refusal_->run();
      std::memcpy(output, rows + static_cast<size_t>(index[i]) * row_bytes_, row_bytes_);
      output += row_bytes_;
    }
  }

 private:
  at::Tensor self_;
  at::Tensor index_;
  at::Tensor output_;
  std::unique_ptr<PreparedKernel> refusal_;
  size_t row_bytes_;
};

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
    return std::make_unique<SelectRows<int64_t>>(call);
  }
  if (selects_rows && index.scalar_type() == at::kInt) {
    return std::make_unique<SelectRows<int32_t>>(call);
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
