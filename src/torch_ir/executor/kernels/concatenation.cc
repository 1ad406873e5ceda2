#include <ATen/Parallel.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/cat_native.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstring>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

struct RunCat {
  template <class Op, class Found>
  static void impl(Op& op, const Found& found, const at::ITensorListRef& tensors, int64_t /*dim*/) {
    op.impl(tensors, found.dim, found.valid, found.all_contiguous, found.all_same_dtype,
            found.all_same_sizes_and_stride, found.memory_format, op.output(0));
  }
};

// Contiguous tensors of one dtype: blocks of bytes, one of each tensor after the other.
class ConcatenateBlocks final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) {
    const std::vector<at::Tensor> tensors = call.arguments[0].toTensorVector();
    const at::Tensor& output = call.outputs[0];
    const bool in_one_thread =
        output.numel() < at::internal::GRAIN_SIZE || at::get_num_threads() == 1;
    const auto fits = [&](const at::Tensor& tensor) {
      return tensor.dim() == output.dim() && tensor.dtype() == output.dtype() &&
             tensor.is_contiguous() && tensor.device().is_cpu() && !tensor.is_conj() &&
             !tensor.is_neg();
    };
    if (!in_one_thread || output.numel() == 0 || !fits(output) ||
        !std::all_of(tensors.begin(), tensors.end(), fits)) {
      return nullptr;
    }
    const int64_t dim = at::maybe_wrap_dim(call.arguments[1].toInt(), output.dim());
    const auto sizes = output.sizes().slice(0, static_cast<size_t>(dim));
    return std::make_unique<ConcatenateBlocks>(tensors, output,
                                               static_cast<size_t>(c10::multiply_integers(sizes)));
  }

  ConcatenateBlocks(const std::vector<at::Tensor>& tensors, at::Tensor output, size_t rows)
      : output_(std::move(output)), rows_(rows) {
    size_t offset = 0;
    for (const at::Tensor& tensor : tensors) {
      const size_t bytes = tensor.nbytes() / rows;
      if (bytes > 0) blocks_.push_back({tensor, bytes, offset});
      offset += bytes;
    }
    row_bytes_ = offset;
  }

  void run() override {
    auto* output = static_cast<char*>(output_.mutable_data_ptr());
    for (const Block& block : blocks_) {
      const auto* from = static_cast<const char*>(block.tensor.const_data_ptr());
      char* to = output + block.offset;
      for (size_t row = 0; row < rows_; ++row) {
        std::memcpy(to + row * row_bytes_, from + row * block.bytes, block.bytes);
      }
    }
  }

 private:
  // What a tensor puts into each row of the result.
  struct Block {
    at::Tensor tensor;
    size_t bytes;
    size_t offset;
  };

  at::Tensor output_;
  size_t rows_;
  size_t row_bytes_ = 0;
  std::vector<Block> blocks_;
};

std::unique_ptr<PreparedKernel> prepare_cat(const KernelCall& call) {
  if (auto kernel = ConcatenateBlocks::prepare(call)) return kernel;
  return kStructured<at::native::structured_cat_out_cpu, 1, RunCat>(call);
}

constexpr KernelEntry kConcatenationKernels[] = {
    {"aten::cat", &prepare_cat},
};

}  // namespace

KernelTable concatenation_kernels() { return kConcatenationKernels; }

}  // namespace torch_ir
