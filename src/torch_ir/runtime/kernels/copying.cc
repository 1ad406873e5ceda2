// clang-format off: before all headers of ATen.
#include "torch_ir/runtime/kernels/stub.h"
// clang-format on

#include <ATen/Parallel.h>
#include <ATen/TensorGeometry.h>
#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/Copy.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "torch_ir/runtime/kernels/families.h"
#include "torch_ir/runtime/kernels/iterator_memory.h"
#include "torch_ir/runtime/kernels/structured.h"

namespace torch_ir {
namespace {

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == c10::kStrided && tensor.device().is_cpu() && !tensor.is_quantized() &&
         !tensor.is_conj() && !tensor.is_neg();
}

bool fills_in_one_thread(const at::Tensor& result) {
  return result.numel() < at::internal::GRAIN_SIZE || at::get_num_threads() == 1;
}

// Whether the elements of both tensors lie in the same order in memory.
bool is_one_block(const at::Tensor& to, const at::Tensor& from) {
  return to.dtype() == from.dtype() && to.sizes() == from.sizes() &&
         ((to.is_contiguous() && from.is_contiguous()) ||
          (to.strides() == from.strides() && to.is_non_overlapping_and_dense()));
}

// copy_ has a faster path for this.
bool is_transposition(const at::Tensor& to, const at::Tensor& from) {
  constexpr int64_t kLeastElements = 60 * 60;
  return to.dtype() == from.dtype() && from.dim() == 2 && to.sizes() == from.sizes() &&
         to.is_contiguous() && from.stride(0) == 1 && to.numel() >= kLeastElements;
}

class CopyKernel final : public PreparedKernel {
 public:
  explicit CopyKernel(at::TensorIteratorConfig& config) : iterator_(config.build()) {}

  bool bind(const KernelCall& call) { return memory_.bind(iterator_, call); }

  void run() override {
    memory_.refresh();
    call_stub(at::native::copy_stub, iterator_, /*non_blocking=*/false);
  }
  void on_moved(const c10::StorageImpl* storage) override { memory_.move(iterator_, storage); }

 private:
  at::TensorIterator iterator_;
  IteratorMemory memory_;
};

// Null for tensors that are not plain (conjugated, quantized, ...).
std::unique_ptr<PreparedKernel> prepare_copy(const KernelCall& call, const at::Tensor& to,
                                             const at::Tensor& from) {
  if (!is_plain(to) || !is_plain(from)) return nullptr;
  if (fills_in_one_thread(to) && is_one_block(to, from)) {
    // memmove must not get the null pointer of an empty tensor.
    return make_kernel([target = to, source = from] {
      if (target.numel() == 0) return;
      std::memmove(target.mutable_data_ptr(), source.const_data_ptr(), target.nbytes());
    });
  }
  // LibTorch has two conversions from and to half, which treat NaNs differently.
  const bool converts_half =
      to.dtype() != from.dtype() && (to.dtype() == at::kHalf || from.dtype() == at::kHalf);
  if (!kHasStubs || to.numel() == 0 || converts_half || is_transposition(to, from)) {
    return make_kernel([target = to, source = from]() mutable {
      at::native::copy_(target, source, /*non_blocking=*/false);
    });
  }
  // It owns its operands, as a kernel outlives the call that it was prepared for.
  at::TensorIteratorConfig config;
  config.add_owned_output(to)
      .add_owned_const_input(from)
      .resize_outputs(false)
      .check_all_same_dtype(false);
  auto kernel = std::make_unique<CopyKernel>(config);
  if (!kernel->bind(call)) return nullptr;
  return kernel;
}

std::unique_ptr<PreparedKernel> prepare_clone(const KernelCall& call) {
  return prepare_copy(call, call.outputs[0], call.arguments[0].toTensor());
}

std::unique_ptr<PreparedKernel> prepare_copy_(const KernelCall& call) {
  return prepare_copy(call, call.arguments[0].toTensor(), call.arguments[1].toTensor());
}

struct RunCat {
  template <class Op, class Found>
  static void impl(Op& op, const Found& found, const at::ITensorListRef& tensors, int64_t /*dim*/) {
    op.impl(tensors, found.dim, found.valid, found.all_contiguous, found.all_same_dtype,
            found.all_same_sizes_and_stride, found.memory_format, op.output(0));
  }
};

struct ConcatenatedBlock {
  at::Tensor tensor;
  size_t bytes;
  size_t offset;
  // Where each row begins, in bytes.
  std::vector<size_t> rows;
};

// Beyond it the table of rows takes memory, and ATen is as fast.
constexpr size_t kMostRows = 1 << 16;

// The rows of a tensor are its parts from dimension `dim` on.
std::vector<size_t> rows_of(const at::Tensor& tensor, int64_t dim) {
  std::vector<size_t> rows = {0};
  for (int64_t d = 0; d < dim; ++d) {
    std::vector<size_t> outer = std::move(rows);
    rows.clear();
    for (const size_t row : outer) {
      for (int64_t i = 0; i < tensor.size(d); ++i) {
        rows.push_back(row + static_cast<size_t>(i * tensor.stride(d)) * tensor.itemsize());
      }
    }
  }
  return rows;
}

// Copies tensors of one dtype, whose rows are contiguous, as blocks of bytes.
std::unique_ptr<PreparedKernel> prepare_cat_of_blocks(const KernelCall& call) {
  const std::vector<at::Tensor> tensors = call.arguments[0].toTensorVector();
  const at::Tensor& output = call.outputs[0];
  const int64_t dim = at::maybe_wrap_dim(call.arguments[1].toInt(), output.dim());
  const auto inner = static_cast<size_t>(dim);
  const auto fits = [&](const at::Tensor& tensor) {
    return tensor.dim() == output.dim() && tensor.dtype() == output.dtype() && is_plain(tensor) &&
           at::geometry_is_contiguous(tensor.sizes().slice(inner), tensor.strides().slice(inner));
  };
  if (!fills_in_one_thread(output) || output.numel() == 0 || !output.is_contiguous() ||
      !fits(output) || !std::all_of(tensors.begin(), tensors.end(), fits)) {
    return nullptr;
  }
  const auto rows = static_cast<size_t>(c10::multiply_integers(output.sizes().slice(0, inner)));
  if (rows > kMostRows) return nullptr;
  std::vector<ConcatenatedBlock> blocks;
  size_t row_bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    const size_t bytes = tensor.nbytes() / rows;
    if (bytes > 0) blocks.push_back({tensor, bytes, row_bytes, rows_of(tensor, dim)});
    row_bytes += bytes;
  }
  return make_kernel([result = output, blocks, rows, row_bytes] {
    auto* data = static_cast<char*>(result.mutable_data_ptr());
    for (const ConcatenatedBlock& block : blocks) {
      const auto* from = static_cast<const char*>(block.tensor.const_data_ptr());
      char* to = data + block.offset;
      for (size_t row = 0; row < rows; ++row) {
        std::memcpy(to + row * row_bytes, from + block.rows[row], block.bytes);
      }
    }
  });
}

constexpr KernelEntry kCopyingKernels[] = {
    {"aten::_to_copy", &prepare_clone},
    {"aten::cat",
     kEither<&prepare_cat_of_blocks, kStructured<at::native::structured_cat_out_cpu, 1, RunCat>>},
    {"aten::clone", &prepare_clone},
    {"aten::copy_", &prepare_copy_},
};

}  // namespace

KernelTable copying_kernels() { return kCopyingKernels; }

}  // namespace torch_ir
