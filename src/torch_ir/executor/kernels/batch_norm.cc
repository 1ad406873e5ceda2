// clang-format off: before all headers of ATen.
#include "torch_ir/executor/kernels/stub.h"
// clang-format on

#include <ATen/native/batch_norm.h>
#include <ATen/ops/native_batch_norm_native.h>

#include "torch_ir/executor/kernels/normalization.h"
#include "torch_ir/executor/kernels/out_function.h"

namespace torch_ir {
namespace {

// With the running statistics; nothing is written to them.
class BatchNorm final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) {
    const bool is_training = call.arguments[5].toBool();
    if (is_training || !call.arguments[0].toTensor().device().is_cpu()) return nullptr;
    auto kernel = std::make_unique<BatchNorm>(call);
    if (!kHasStubs || !kernel->is_contiguous()) {
      return OutFunction<&at::native::batch_norm_cpu_out, 3>::prepare(call);
    }
    return kernel;
  }

  explicit BatchNorm(const KernelCall& call)
      : outputs_(call.outputs),
        input_(call.arguments[0].toTensor()),
        weight_(optional_tensor(call.arguments[1])),
        bias_(optional_tensor(call.arguments[2])),
        mean_(optional_tensor(call.arguments[3])),
        variance_(optional_tensor(call.arguments[4])),
        epsilon_(call.arguments[7].toDouble()) {}

  void run() override {
    call_stub(at::native::batch_norm_cpu_stub, outputs_[0], input_, weight_, bias_, outputs_[1],
              outputs_[2], mean_, variance_, /*training=*/false, epsilon_);
  }

 private:
  bool is_contiguous() const {
    const at::Tensor& output = outputs_[0];
    const bool is_dense = (input_.is_contiguous() && output.is_contiguous()) ||
                          (input_.is_contiguous(at::MemoryFormat::ChannelsLast) &&
                           output.is_contiguous(at::MemoryFormat::ChannelsLast)) ||
                          (input_.is_contiguous(at::MemoryFormat::ChannelsLast3d) &&
                           output.is_contiguous(at::MemoryFormat::ChannelsLast3d));
    return is_dense && input_.numel() > 0 && is_contiguous_if_given(weight_) &&
           is_contiguous_if_given(bias_) && mean_.defined() && mean_.is_contiguous() &&
           variance_.defined() && variance_.is_contiguous();
  }

  std::vector<at::Tensor> outputs_;
  at::Tensor input_;
  at::Tensor weight_;
  at::Tensor bias_;
  at::Tensor mean_;
  at::Tensor variance_;
  double epsilon_;
};

}  // namespace

std::unique_ptr<PreparedKernel> prepare_batch_norm(const KernelCall& call) {
  return BatchNorm::prepare(call);
}

}  // namespace torch_ir
