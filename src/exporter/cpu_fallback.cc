#include "torch_ir/exporter/cpu_fallback.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/exporter/cpu_probe.h"
#include "torch_ir/exporter/zero_memory.h"

namespace torch_ir {
namespace {

// The CPU counterparts of the meta tensors of one call, and the way back.
class Twins {
 public:
  explicit Twins(const c10::OperatorHandle& op) : op_(op) {}

  at::Tensor to_cpu(const at::Tensor& meta) {
    for (const auto& [known, twin] : pairs_) {
      if (known.is_same(meta)) return twin;
    }
    TORCH_CHECK_NOT_IMPLEMENTED(meta.layout() == c10::Layout::Strided && !meta.is_quantized(),
                                op_.operator_name(), " on meta tensors: only dense tensors have a ",
                                "CPU counterpart, this one is ", meta.layout(), " ",
                                meta.scalar_type());
    auto twin = at::detail::make_tensor<c10::TensorImpl>(
        c10::Storage(storage_of(meta)), c10::DispatchKeySet(c10::DispatchKey::CPU), meta.dtype());
    c10::TensorImpl* impl = twin.unsafeGetTensorImpl();
    impl->set_sizes_and_strides(meta.sizes(), meta.strides());
    impl->set_storage_offset(meta.storage_offset());
    copy_wrapped_number(meta, twin);
    pairs_.emplace_back(meta, twin);
    return twin;
  }

  // The operator may have changed the geometry of what it wrote to.
  void update_written() const {
    for (const auto& [meta, twin] : pairs_) {
      if (twin.sizes() == meta.sizes() && twin.strides() == meta.strides()) continue;
      meta.resize_(twin.sizes());
      meta.as_strided_(twin.sizes(), twin.strides(), twin.storage_offset());
    }
  }

  at::Tensor to_meta(const at::Tensor& result) const {
    for (const auto& [meta, twin] : pairs_) {
      if (twin.is_same(result)) return meta;
    }
    TORCH_CHECK_NOT_IMPLEMENTED(result.layout() == c10::Layout::Strided && !result.is_quantized(),
                                op_.operator_name(), " on meta tensors: its result is ",
                                result.layout(), " ", result.scalar_type(), ", not dense");
    for (const auto& [meta, twin] : pairs_) {
      if (twin.is_alias_of(result) && twin.dtype() == result.dtype()) {
        return at::as_strided(meta, result.sizes(), result.strides(), result.storage_offset());
      }
    }
    return at::detail::empty_strided_meta(result.sizes(), result.strides(), result.scalar_type());
  }

 private:
  const c10::Storage& storage_of(const at::Tensor& meta) {
    const c10::Storage& storage = meta.storage();
    const size_t used = at::detail::computeStorageNbytes(
        meta.sizes(), meta.strides(), meta.dtype().itemsize(), meta.storage_offset());
    auto [found, is_new] = storages_.try_emplace(storage.unsafeGetStorageImpl());
    if (is_new) found->second = zero_storage(std::max(used, storage.nbytes()));
    TORCH_CHECK(used <= found->second.nbytes(), op_.operator_name(), " on meta tensors: a tensor ",
                "reaches to byte ", used, " of a storage of ", found->second.nbytes(), " bytes");
    return found->second;
  }

  const c10::OperatorHandle& op_;
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;
  std::unordered_map<const c10::StorageImpl*, c10::Storage> storages_;
};

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
  Twins twins(op);
  torch::jit::Stack results = call_on_cpu(
      op, arguments, [&twins](const at::Tensor& meta) { return twins.to_cpu(meta); });
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  twins.update_written();
  for (c10::IValue& result : results) {
    result = map_tensors(result, [&twins](const at::Tensor& tensor) { return twins.to_meta(tensor); });
  }
  torch::jit::drop(*stack, count);
  stack->insert(stack->end(), std::make_move_iterator(results.begin()),
                std::make_move_iterator(results.end()));
}

}  // namespace torch_ir
