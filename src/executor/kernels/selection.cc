// clang-format off: before all headers of ATen.
#include "torch_ir/executor/kernels/stub.h"
// clang-format on

#include <ATen/native/IndexKernel.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/ops/masked_fill_native.h>
#include <ATen/ops/where_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/iterator_kernel.h"
#include "torch_ir/executor/kernels/out_function.h"

namespace torch_ir {
namespace {

std::unique_ptr<PreparedKernel> prepare_where(const KernelCall& call) {
  const at::Tensor& condition = call.arguments[0].toTensor();
  const at::Tensor& chosen = call.arguments[1].toTensor();
  const at::Tensor& other = call.arguments[2].toTensor();
  const at::Tensor& output = call.outputs[0];
  // Where dtypes differ, the operands are converted to that of the result first.
  const bool is_select = kHasStubs && condition.dtype() == at::kBool &&
                         chosen.dtype() == output.dtype() && other.dtype() == output.dtype();
  if (!is_select) return OutFunction<&at::native::where_self_out>::prepare(call);
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false)
      .add_output(output)
      .add_const_input(condition)
      .add_const_input(chosen)
      .add_const_input(other);
  return prepare_iterator(call, config, [](at::TensorIterator& iterator) {
    call_stub(at::native::where_kernel, iterator);
  });
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
  if (!kHasStubs || mask.dtype() != at::kBool || mask.dim() > self.dim()) {
    return InPlaceFunction<kMaskedFillWithNumber>::prepare(call);
  }
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .resize_outputs(false)
      .add_output(self)
      .add_const_input(mask);
  return prepare_iterator(
      call, config, [value = call.arguments[2].toScalar()](at::TensorIterator& iterator) {
        call_stub(at::native::masked_fill_stub, iterator, value);
      });
}

constexpr KernelEntry kKernels[] = {
    {"aten::masked_fill_.Scalar", &prepare_masked_fill_},
    {"aten::masked_fill_.Tensor", &InPlaceFunction<kMaskedFillWithTensor>::prepare},
    {"aten::where.self", &prepare_where},
};

}  // namespace

KernelTable selection_kernels() { return kKernels; }

}  // namespace torch_ir
