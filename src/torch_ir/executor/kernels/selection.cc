#include <ATen/ops/masked_fill_native.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where_native.h>

#include <algorithm>
#include <array>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/iterator_kernel.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/select_elements.h"

namespace torch_ir {
namespace {

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == c10::kStrided && tensor.device().is_cpu() && !tensor.is_conj() &&
         !tensor.is_neg();
}

// Calls `run_row` with what ElementLoop has, for each row of the iterator.
template <size_t kOperands, class RunRow>
void for_each_row(at::TensorIterator& iterator, const RunRow& run_row) {
  iterator.for_each([&](char** data, const int64_t* strides, int64_t count, int64_t rows) {
    std::array<char*, kOperands> row_data;
    std::copy_n(data, kOperands, row_data.begin());
    for (int64_t row = 0; row < rows; ++row) {
      run_row(row_data.data(), strides, count);
      for (size_t i = 0; i < kOperands; ++i) row_data[i] += strides[kOperands + i];
    }
  });
}

std::unique_ptr<PreparedKernel> prepare_where(const KernelCall& call) {
  const at::Tensor& condition = call.arguments[0].toTensor();
  const at::Tensor& chosen = call.arguments[1].toTensor();
  const at::Tensor& other = call.arguments[2].toTensor();
  const at::Tensor& output = call.outputs[0];
  const ElementLoop select = select_loop(output.element_size());
  // Where dtypes differ, the operands are converted to that of the result first.
  const bool is_select = select != nullptr && condition.dtype() == at::kBool &&
                         chosen.dtype() == output.dtype() && other.dtype() == output.dtype() &&
                         is_plain(condition) && is_plain(chosen) && is_plain(other);
  if (!is_select) return OutFunction<&at::native::where_self_out>::prepare(call);
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false)
      .add_owned_output(output)
      .add_owned_const_input(condition)
      .add_owned_const_input(chosen)
      .add_owned_const_input(other);
  return prepare_iterator(
      call, config, [select](at::TensorIterator& iterator) { for_each_row<4>(iterator, select); });
}

constexpr auto kMaskedFillWithNumber =
    static_cast<at::Tensor& (*)(at::Tensor&, const at::Tensor&, const at::Scalar&)>(
        &at::native::masked_fill__cpu);
constexpr auto kMaskedFillWithTensor =
    static_cast<at::Tensor& (*)(at::Tensor&, const at::Tensor&, const at::Tensor&)>(
        &at::native::masked_fill__cpu);

std::unique_ptr<PreparedKernel> prepare_masked_fill_(const KernelCall& call) {
  const at::Tensor& self = call.arguments[0].toTensor();
  const at::Tensor& mask = call.arguments[1].toTensor();
  const at::Scalar& value = call.arguments[2].toScalar();
  const ElementLoop select = select_loop(self.element_size());
  if (select == nullptr || mask.dtype() != at::kBool || mask.dim() > self.dim() ||
      !is_plain(self) || !is_plain(mask)) {
    return InPlaceFunction<kMaskedFillWithNumber>::prepare(call);
  }
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .resize_outputs(false)
      .add_owned_output(self)
      .add_owned_const_input(mask);
  const auto fill =
      [select, filler = at::scalar_tensor(value, self.options())](at::TensorIterator& iterator) {
        auto* filler_data = static_cast<char*>(filler.data_ptr());
        for_each_row<2>(iterator, [&](char** data, const int64_t* strides, int64_t count) {
          char* operands[] = {data[0], data[1], filler_data, data[0]};
          const int64_t operand_strides[] = {strides[0], strides[1], 0, strides[0]};
          select(operands, operand_strides, count);
        });
      };
  return prepare_iterator(call, config, fill);
}

constexpr KernelEntry kSelectionKernels[] = {
    {"aten::masked_fill_.Scalar", &prepare_masked_fill_},
    {"aten::masked_fill_.Tensor", &InPlaceFunction<kMaskedFillWithTensor>::prepare},
    {"aten::where.self", &prepare_where},
};

}  // namespace

KernelTable selection_kernels() { return kSelectionKernels; }

}  // namespace torch_ir
