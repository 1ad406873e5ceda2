#include "torch_ir/exporter/meta/cpu_probe.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/enum_tag.h>
#include <ATen/ops/as_strided.h>
#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/meta/meta_kernels.h"
#include "torch_ir/operators/random_state.h"

namespace torch_ir {
namespace {

// Memory without a reservation, as pages that are never written need not fit into memory.
c10::DataPtr map_zeros(size_t bytes) {
  const c10::Device cpu(c10::DeviceType::CPU);
  if (bytes == 0) return {nullptr, cpu};
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    throw Error(fmt::format("cannot map {} bytes of zeros: {}", bytes, std::strerror(errno)));
  }
  return c10::InefficientStdFunctionContext::makeDataPtr(
      address, [bytes](void* memory) { munmap(memory, bytes); }, cpu);
}

// Warnings about made-up values would mislead.
class Silence : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

// The operator may have changed the geometry of its outputs.
void update_written(const ZeroTwins& twins) {
  for (const auto& [meta, twin] : twins.pairs()) {
    if (twin.sizes() == meta.sizes() && twin.strides() == meta.strides()) continue;
    meta.resize_(twin.sizes());
    meta.as_strided_(twin.sizes(), twin.strides(), twin.storage_offset());
  }
}

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
                op.schema().arguments()[i].name(), " is written to but is on ", written.device(),
                ", while another tensor is on the meta device");
  }
}

}  // namespace

c10::Storage zero_storage(size_t bytes) {
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, map_zeros(bytes),
                      c10::GetCPUAllocator(), /*resizable=*/true);
}

at::Tensor ZeroTwins::of(const at::Tensor& meta) {
  for (const auto& [known, twin] : pairs_) {
    if (known.is_same(meta)) return twin;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(meta.layout() == c10::Layout::Strided && !meta.is_quantized(),
                              "only dense meta tensors have a counterpart on the CPU, not ",
                              meta.layout(), " ", meta.scalar_type());
  auto twin = at::detail::make_tensor<c10::TensorImpl>(
      storage_of(meta), c10::DispatchKeySet(c10::DispatchKey::CPU), meta.dtype());
  c10::TensorImpl* impl = twin.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(meta.sizes(), meta.strides());
  impl->set_storage_offset(meta.storage_offset());
  copy_wrapped_number(meta, twin);
  pairs_.emplace_back(meta, twin);
  return twin;
}

c10::Storage ZeroTwins::storage_of(const at::Tensor& meta) {
  const c10::Storage& storage = meta.storage();
  const size_t used = at::detail::computeStorageNbytes(
      meta.sizes(), meta.strides(), meta.dtype().itemsize(), meta.storage_offset());
  auto [found, is_new] = storages_.try_emplace(storage.unsafeGetStorageImpl());
  if (is_new) found->second = zero_storage(std::max(used, storage.nbytes()));
  TORCH_CHECK(used <= found->second.nbytes(), "a meta tensor needs ", used,
              " bytes of a storage of ", found->second.nbytes(), " bytes");
  return found->second;
}

torch::jit::Stack call_on_cpu(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                              const TensorMap& substitute) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  std::optional<RandomStateGuard> keep_generator;
  if (op.hasTag(at::Tag::nondeterministic_seeded)) keep_generator.emplace();
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard no_warnings(&silence);
  const TensorMap to_cpu = [&](const at::Tensor& tensor) {
    return tensor.is_meta() ? substitute(tensor) : tensor;
  };
  torch::jit::Stack stack;
  for (const c10::IValue& argument : arguments) {
    if (argument.isDevice() && argument.toDevice().is_meta()) {
      stack.emplace_back(c10::Device(c10::DeviceType::CPU));
    } else {
      stack.push_back(map_tensors(argument, to_cpu));
    }
  }
  try {
    op.callBoxed(stack);
  } catch (const c10::Error& error) {
    TORCH_CHECK(false, op.operator_name(), " on meta tensors: ", error.what_without_backtrace());
  } catch (const std::exception& error) {
    TORCH_CHECK(false, op.operator_name(), " on meta tensors: ", error.what());
  }
  return stack;
}

torch::jit::Stack run_on_cpu_zeros(const c10::OperatorHandle& op,
                                   c10::ArrayRef<c10::IValue> arguments) {
  check_writes_meta_only(op, arguments);
  ZeroTwins twins;
  torch::jit::Stack results =
      call_on_cpu(op, arguments, [&twins](const at::Tensor& meta) { return twins.of(meta); });
  update_written(twins);
  for (c10::IValue& result : results) {
    result =
        map_tensors(result, [&](const at::Tensor& tensor) { return to_meta(op, twins, tensor); });
  }
  return results;
}

}  // namespace torch_ir
