// clang-format off: before all headers of ATen.
#include "torch_ir/executor/kernels/stub.h"
// clang-format on

#include <ATen/native/transformers/attention.h>

#include "torch_ir/executor/kernels/families.h"

namespace torch_ir {
namespace {

// The kernel works on results whose second and third dimensions are exchanged, as LibTorch does.
class FlashAttention final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) {
    const at::Tensor& output = call.outputs[0];
    const at::Tensor& sums = call.outputs[1];
    const double dropout = call.arguments[3].toDouble();
    const bool takes_call = kHasStubs && dropout == 0.0 && output.device().is_cpu() &&
                            output.dim() == 4 && sums.dim() == 3 && output.numel() > 0 &&
                            output.transpose(1, 2).is_contiguous() &&
                            sums.transpose(1, 2).is_contiguous();
    if (!takes_call) return nullptr;
    return std::make_unique<FlashAttention>(call);
  }

  explicit FlashAttention(const KernelCall& call)
      : output_(call.outputs[0].transpose(1, 2)),
        sums_(call.outputs[1].transpose(1, 2)),
        query_(call.arguments[0].toTensor()),
        key_(call.arguments[1].toTensor()),
        value_(call.arguments[2].toTensor()),
        is_causal_(call.arguments[4].toBool()) {
    if (!call.arguments[5].isNone()) mask_ = call.arguments[5].toTensor();
    if (!call.arguments[6].isNone()) scale_ = call.arguments[6].toDouble();
  }

  void run() override {
    call_stub(at::native::flash_attention_kernel, output_, sums_, query_, key_, value_,
              /*dropout_p=*/0.0, is_causal_, mask_, scale_);
  }

 private:
  at::Tensor output_;
  at::Tensor sums_;
  at::Tensor query_;
  at::Tensor key_;
  at::Tensor value_;
  bool is_causal_;
  std::optional<at::Tensor> mask_;
  std::optional<double> scale_;
};

constexpr KernelEntry kAttentionKernels[] = {
    {"aten::_scaled_dot_product_flash_attention_for_cpu", &FlashAttention::prepare},
};

}  // namespace

KernelTable attention_kernels() { return kAttentionKernels; }

}  // namespace torch_ir
