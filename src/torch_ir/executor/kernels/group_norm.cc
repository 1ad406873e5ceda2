// clang-format off: before all headers of ATen.
#include "torch_ir/executor/kernels/stub.h"
// clang-format on

#include <ATen/core/Tensor.h>
#include <ATen/native/group_norm.h>

#include "torch_ir/executor/kernels/normalization.h"

namespace torch_ir {
namespace {

class GroupNorm final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) {
    auto kernel = std::make_unique<GroupNorm>(call);
    const bool takes_call =
        kHasStubs && kernel->input_.device().is_cpu() && kernel->input_.numel() > 0 &&
        kernel->input_.is_contiguous() && kernel->outputs_[0].is_contiguous() &&
        is_contiguous_if_given(kernel->weight_) && is_contiguous_if_given(kernel->bias_);
    return takes_call ? std::move(kernel) : nullptr;
  }

  explicit GroupNorm(const KernelCall& call)
      : outputs_(call.outputs),
        input_(call.arguments[0].toTensor()),
        weight_(optional_tensor(call.arguments[1])),
        bias_(optional_tensor(call.arguments[2])),
        batch_(call.arguments[3].toInt()),
        channels_(call.arguments[4].toInt()),
        plane_(call.arguments[5].toInt()),
        groups_(call.arguments[6].toInt()),
        epsilon_(call.arguments[7].toDouble()) {}

  void run() override {
    call_stub(at::native::GroupNormKernel, input_, weight_, bias_, batch_, channels_, plane_,
              groups_, epsilon_, outputs_[0], outputs_[1], outputs_[2]);
  }

 private:
  std::vector<at::Tensor> outputs_;
  at::Tensor input_;
  at::Tensor weight_;
  at::Tensor bias_;
  int64_t batch_;
  int64_t channels_;
  int64_t plane_;
  int64_t groups_;
  double epsilon_;
};

}  // namespace

std::unique_ptr<PreparedKernel> prepare_group_norm(const KernelCall& call) {
  return GroupNorm::prepare(call);
}

}  // namespace torch_ir
