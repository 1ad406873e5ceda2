#include "torch_ir/exporter/meta/cpu_fallback.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided.h>

#include <iterator>

#include "torch_ir/exporter/meta/cpu_probe.h"
#include "torch_ir/exporter/meta/zero_twins.h"

namespace torch_ir {
namespace {

// The operator may have changed the geometry of what it wrote to.
void update_written(const ZeroTwins& twins) {
  for (const auto& [meta, twin] : twins.pairs()) {
    if (twin.sizes() == meta.sizes() && twin.strides() == meta.strides()) continue;
    meta.resize_(twin.sizes());
    meta.as_strided_(twin.sizes(), twin.strides(), twin.storage_offset());
  }
}

// The meta tensor that stands for `result`: an argument, a view of one, or a new tensor.
at::Tensor to_meta(const c10::OperatorHandle& op, const ZeroTwins& twins,
                   const at::Tensor& result) {
  for (const auto& [meta, twin] : twins.pairs()) {
    if (twin.is_same(result)) return meta;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(result.layout() == c10::Layout::Strided && !result.is_quantized(),
                              op.operator_name(), " on meta tensors: its result is ",
                              result.layout(), " ", result.scalar_type(), ", not dense");
  for (const auto& [meta, twin] : twins.pairs()) {
    if (twin.is_alias_of(result) && twin.dtype() == result.dtype()) {
      return at::as_strided(meta, result.sizes(), result.strides(), result.storage_offset());
    }
  }
  return at::detail::empty_strided_meta(result.sizes(), result.strides(), result.scalar_type());
}

// Zeros must not end up in a real tensor.
void check_writes_meta_only(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo* alias = op.schema().arguments()[i].alias_info();
    if (!alias || !alias->isWrite() || !arguments[i].isTensor()) continue;
    const at::Tensor& written = arguments[i].toTensor();
    TORCH_CHECK(!written.defined() || written.is_meta(), op.operator_name(), ": argument ",
                op.schema().arguments()[i].name(), " is written and is on ", written.device(),
                ", while another tensor is on the meta device");
  }
}

}  // namespace

void run_on_cpu_zeros(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t count = op.schema().arguments().size();
  const auto arguments = torch::jit::last(*stack, count);
  check_writes_meta_only(op, arguments);
  ZeroTwins twins;
  torch::jit::Stack results =
      call_on_cpu(op, arguments, [&twins](const at::Tensor& meta) { return twins.of(meta); });
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  update_written(twins);
  for (c10::IValue& result : results) {
    result =
        map_tensors(result, [&](const at::Tensor& tensor) { return to_meta(op, twins, tensor); });
  }
  torch::jit::drop(*stack, count);
  stack->insert(stack->end(), std::make_move_iterator(results.begin()),
                std::make_move_iterator(results.end()));
}

}  // namespace torch_ir
