// clang-format off: before all headers of ATen.
#include "torch_ir/executor/kernels/stub.h"
// clang-format on

#include <ATen/core/Tensor.h>
#include <ATen/native/layer_norm.h>

#include "torch_ir/executor/kernels/normalization.h"

namespace torch_ir {
namespace {

class LayerNorm final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) {
    auto kernel = std::make_unique<LayerNorm>(call);
    const bool takes_call =
        kHasStubs && kernel->input_.device().is_cpu() && kernel->input_.numel() > 0 &&
        kernel->input_.is_contiguous() && kernel->outputs_[0].is_contiguous() &&
        is_contiguous_if_given(kernel->weight_) && is_contiguous_if_given(kernel->bias_);
    return takes_call ? std::move(kernel) : nullptr;
  }

  explicit LayerNorm(const KernelCall& call)
      : outputs_(call.outputs),
        has_statistics_(call.is_used[1] || call.is_used[2]),
        input_(call.arguments[0].toTensor()),
        weight_(optional_tensor(call.arguments[2])),
        bias_(optional_tensor(call.arguments[3])),
        epsilon_(call.arguments[4].toDouble()) {
    for (const int64_t size : call.arguments[1].toIntVector()) row_ *= size;
  }

  void run() override {
    call_stub(at::native::LayerNormKernel, input_, weight_, bias_, input_.numel() / row_, row_,
              epsilon_, &outputs_[0], has_statistics_ ? &outputs_[1] : nullptr,
              has_statistics_ ? &outputs_[2] : nullptr);
  }

 private:
  std::vector<at::Tensor> outputs_;
  bool has_statistics_;
  at::Tensor input_;
  at::Tensor weight_;
  at::Tensor bias_;
  double epsilon_;
  int64_t row_ = 1;
};

}  // namespace

std::unique_ptr<PreparedKernel> prepare_layer_norm(const KernelCall& call) {
  return LayerNorm::prepare(call);
}

}  // namespace torch_ir
