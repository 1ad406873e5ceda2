// clang-format off: before all headers of ATen.
#include "torch_ir/executor/kernels/stub.h"
// clang-format on

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/Copy.h>
#include <ATen/ops/copy_native.h>

#include <cstring>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/iterator_kernel.h"

namespace torch_ir {
namespace {

// Tensors of one dtype whose elements lie in the same order in memory.
class CopyBytes final : public PreparedKernel {
 public:
  CopyBytes(at::Tensor to, at::Tensor from) : to_(std::move(to)), from_(std::move(from)) {}

  void run() override {
    // An empty tensor may have no memory, which memmove must not be given.
    if (to_.numel() == 0) return;
    std::memmove(to_.mutable_data_ptr(), from_.const_data_ptr(), to_.nbytes());
  }

 private:
  at::Tensor to_;
  at::Tensor from_;
};

// What ATen's copy_ does, with all that it has special cases for.
class CopyWithAten final : public PreparedKernel {
 public:
  CopyWithAten(at::Tensor to, at::Tensor from) : to_(std::move(to)), from_(std::move(from)) {}

  void run() override { at::native::copy_(to_, from_, /*non_blocking=*/false); }

 private:
  at::Tensor to_;
  at::Tensor from_;
};

bool is_one_block(const at::Tensor& to, const at::Tensor& from) {
  return to.dtype() == from.dtype() && to.sizes() == from.sizes() &&
         ((to.is_contiguous() && from.is_contiguous()) ||
          (to.strides() == from.strides() && to.is_non_overlapping_and_dense()));
}

// copy_ has a faster way for this.
bool is_transposition(const at::Tensor& to, const at::Tensor& from) {
  constexpr int64_t kLeastElements = 60 * 60;
  return to.dtype() == from.dtype() && from.dim() == 2 && to.sizes() == from.sizes() &&
         to.is_contiguous() && from.stride(0) == 1 && to.numel() >= kLeastElements;
}

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == c10::kStrided && tensor.device().is_cpu() && !tensor.is_quantized() &&
         !tensor.is_conj() && !tensor.is_neg();
}

// Null for tensors that are not plain (conjugated, quantized, ...).
std::unique_ptr<PreparedKernel> prepare_copy(const KernelCall& call, const at::Tensor& to,
                                             const at::Tensor& from) {
  if (!is_plain(to) || !is_plain(from)) return nullptr;
  const bool in_one_thread = to.numel() < at::internal::GRAIN_SIZE || at::get_num_threads() == 1;
  if (in_one_thread && is_one_block(to, from)) return std::make_unique<CopyBytes>(to, from);
  // Of conversions from and to half LibTorch has two, and NaNs come out of them differently.
  const bool converts_half =
      to.dtype() != from.dtype() && (to.dtype() == at::kHalf || from.dtype() == at::kHalf);
  if (!kHasStubs || to.numel() == 0 || converts_half || is_transposition(to, from)) {
    return std::make_unique<CopyWithAten>(to, from);
  }
  at::TensorIteratorConfig config;
  config.add_owned_output(to)
      .add_owned_const_input(from)
      .resize_outputs(false)
      .check_all_same_dtype(false);
  return prepare_iterator(call, config, [](at::TensorIterator& iterator) {
    call_stub(at::native::copy_stub, iterator, /*non_blocking=*/false);
  });
}

// The argument goes to the result, which has the dtype and layout that were asked for.
std::unique_ptr<PreparedKernel> prepare_clone(const KernelCall& call) {
  return prepare_copy(call, call.outputs[0], call.arguments[0].toTensor());
}

std::unique_ptr<PreparedKernel> prepare_copy_(const KernelCall& call) {
  return prepare_copy(call, call.arguments[0].toTensor(), call.arguments[1].toTensor());
}

constexpr KernelEntry kCopyingKernels[] = {
    {"aten::_to_copy", &prepare_clone},
    {"aten::clone", &prepare_clone},
    {"aten::copy_", &prepare_copy_},
};

}  // namespace

KernelTable copying_kernels() { return kCopyingKernels; }

}  // namespace torch_ir
