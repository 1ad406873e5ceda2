// clang-format off: before all headers of ATen.
#include "torch_ir/executor/kernels/stub.h"
// clang-format on

#include <ATen/native/batch_norm.h>
#include <ATen/native/layer_norm.h>
#include <ATen/ops/_log_softmax_native.h>
#include <ATen/ops/_softmax_native.h>
#include <ATen/ops/native_batch_norm_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/structured.h"

// It has other types by the names that layer_norm.h has.
#define forward_fn group_norm_forward_fn
#define backward_fn group_norm_backward_fn
#include <ATen/native/group_norm.h>
#undef forward_fn
#undef backward_fn

namespace torch_ir {
namespace {

// A tensor argument; undefined where it is None.
at::Tensor optional_tensor(const c10::IValue& value) {
  return value.isNone() ? at::Tensor() : value.toTensor();
}

bool is_contiguous_if_given(const at::Tensor& tensor) {
  return !tensor.defined() || tensor.is_contiguous();
}

// What batch, layer and group normalization have in common. They do without the memory that ATen
// makes on the way.
class Normalization : public PreparedKernel {
 public:
  // `weight` is the position of that argument; the bias follows it.
  Normalization(const KernelCall& call, size_t weight, size_t epsilon)
      : outputs_(call.outputs),
        input_(call.arguments[0].toTensor()),
        weight_(optional_tensor(call.arguments[weight])),
        bias_(optional_tensor(call.arguments[weight + 1])),
        epsilon_(call.arguments[epsilon].toDouble()) {}

  virtual bool takes_call() const {
    return kHasStubs && input_.device().is_cpu() && input_.numel() > 0 && input_.is_contiguous() &&
           outputs_[0].is_contiguous() && has_contiguous_parameters();
  }

 protected:
  bool has_contiguous_parameters() const {
    return is_contiguous_if_given(weight_) && is_contiguous_if_given(bias_);
  }

  std::vector<at::Tensor> outputs_;
  at::Tensor input_;
  at::Tensor weight_;
  at::Tensor bias_;
  double epsilon_;
};

template <class Kernel>
std::unique_ptr<PreparedKernel> prepare_normalization(const KernelCall& call) {
  auto kernel = std::make_unique<Kernel>(call);
  return kernel->takes_call() ? std::move(kernel) : nullptr;
}

// With the running statistics; nothing is written to them.
class BatchNorm final : public Normalization {
 public:
  explicit BatchNorm(const KernelCall& call)
      : Normalization(call, 1, 7),
        mean_(optional_tensor(call.arguments[3])),
        variance_(optional_tensor(call.arguments[4])) {}

  bool takes_call() const override {
    const auto is_dense = [this](at::MemoryFormat format) {
      return input_.is_contiguous(format) && outputs_[0].is_contiguous(format);
    };
    return kHasStubs && input_.numel() > 0 && has_contiguous_parameters() &&
           (is_dense(at::MemoryFormat::Contiguous) || is_dense(at::MemoryFormat::ChannelsLast) ||
            is_dense(at::MemoryFormat::ChannelsLast3d)) &&
           mean_.defined() && mean_.is_contiguous() && variance_.defined() &&
           variance_.is_contiguous();
  }

  void run() override {
    call_stub(at::native::batch_norm_cpu_stub, outputs_[0], input_, weight_, bias_, outputs_[1],
              outputs_[2], mean_, variance_, /*training=*/false, epsilon_);
  }

 private:
  at::Tensor mean_;
  at::Tensor variance_;
};

std::unique_ptr<PreparedKernel> prepare_batch_norm(const KernelCall& call) {
  const bool is_training = call.arguments[5].toBool();
  if (is_training || !call.arguments[0].toTensor().device().is_cpu()) return nullptr;
  if (auto kernel = prepare_normalization<BatchNorm>(call)) return kernel;
  return kOutFunction<&at::native::batch_norm_cpu_out, 3>(call);
}

class GroupNorm final : public Normalization {
 public:
  explicit GroupNorm(const KernelCall& call)
      : Normalization(call, 1, 7),
        batch_(call.arguments[3].toInt()),
        channels_(call.arguments[4].toInt()),
        plane_(call.arguments[5].toInt()),
        groups_(call.arguments[6].toInt()) {}

  void run() override {
    call_stub(at::native::GroupNormKernel, input_, weight_, bias_, batch_, channels_, plane_,
              groups_, epsilon_, outputs_[0], outputs_[1], outputs_[2]);
  }

 private:
  int64_t batch_;
  int64_t channels_;
  int64_t plane_;
  int64_t groups_;
};

class LayerNorm final : public Normalization {
 public:
  explicit LayerNorm(const KernelCall& call)
      : Normalization(call, 2, 4), has_statistics_(call.is_used[1] || call.is_used[2]) {
    for (const int64_t size : call.arguments[1].toIntVector()) row_ *= size;
  }

  void run() override {
    call_stub(at::native::LayerNormKernel, input_, weight_, bias_, input_.numel() / row_, row_,
              epsilon_, &outputs_[0], has_statistics_ ? &outputs_[1] : nullptr,
              has_statistics_ ? &outputs_[2] : nullptr);
  }

 private:
  bool has_statistics_;
  int64_t row_ = 1;
};

constexpr KernelEntry kNormalizationKernels[] = {
    {"aten::_log_softmax", kStructured<at::native::structured_log_softmax_cpu_out>},
    {"aten::_native_batch_norm_legit", &prepare_batch_norm},
    {"aten::_softmax", kStructured<at::native::structured_softmax_cpu_out>},
    {"aten::native_batch_norm", &prepare_batch_norm},
    {"aten::native_group_norm", &prepare_normalization<GroupNorm>},
    {"aten::native_layer_norm", &prepare_normalization<LayerNorm>},
};

}  // namespace

KernelTable normalization_kernels() { return kNormalizationKernels; }

}  // namespace torch_ir
