// clang-format off: before all headers of ATen.
#include "torch_ir/executor/kernels/stub.h"
// clang-format on

#include <ATen/WrapDimUtils.h>
#include <ATen/native/Activation.h>
#include <ATen/ops/elu_native.h>
#include <ATen/ops/gelu_native.h>
#include <ATen/ops/hardshrink_native.h>
#include <ATen/ops/hardsigmoid_native.h>
#include <ATen/ops/hardswish_native.h>
#include <ATen/ops/hardtanh_native.h>
#include <ATen/ops/leaky_relu_native.h>
#include <ATen/ops/log_sigmoid_forward_native.h>
#include <ATen/ops/mish_native.h>
#include <ATen/ops/mse_loss_native.h>
#include <ATen/ops/silu_native.h>
#include <ATen/ops/smooth_l1_loss_native.h>
#include <ATen/ops/softplus_native.h>
#include <ATen/ops/softshrink_native.h>
#include <ATen/ops/threshold_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/iterator_kernel.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

// ATen's structured kernel forgets the two halves when it is prepared.
std::unique_ptr<PreparedKernel> prepare_glu(const KernelCall& call) {
  const at::Tensor& self = call.arguments[0].toTensor();
  if (!kHasStubs || self.dim() == 0) return nullptr;
  const int64_t dim = at::maybe_wrap_dim(call.arguments[1].toInt(), self.dim());
  const int64_t half = self.size(dim) / 2;
  at::TensorIteratorConfig config;
  config.add_owned_output(call.outputs[0])
      .add_owned_const_input(self.narrow(dim, 0, half))
      .add_owned_const_input(self.narrow(dim, half, half));
  return prepare_iterator(call, config, [](at::TensorIterator& iterator) {
    call_stub(at::native::glu_stub, iterator);
  });
}

constexpr KernelEntry kActivationKernels[] = {
    {"aten::elu", kStructured<at::native::structured_elu_out>},
    {"aten::gelu", kStructured<at::native::structured_gelu_out_cpu>},
    {"aten::glu", &prepare_glu},
    {"aten::hardshrink", kStructured<at::native::structured_hardshrink_out>},
    {"aten::hardsigmoid", kStructured<at::native::structured_hardsigmoid_out>},
    {"aten::hardswish", kOutFunction<&at::native::hardswish_out>},
    {"aten::hardtanh", kOutFunction<&at::native::hardtanh_out>},
    {"aten::leaky_relu", kStructured<at::native::structured_leaky_relu_out>},
    {"aten::log_sigmoid_forward", kOutFunction<&at::native::log_sigmoid_forward_out_cpu, 2>},
    {"aten::mish", kStructured<at::native::structured_mish_out>},
    {"aten::mse_loss", kStructured<at::native::structured_mse_loss_out>},
    {"aten::silu", kStructured<at::native::structured_silu_out>},
    {"aten::smooth_l1_loss", kStructured<at::native::structured_smooth_l1_loss_out>},
    {"aten::softplus", kStructured<at::native::structured_softplus_out>},
    {"aten::softshrink", kStructured<at::native::structured_softshrink_out>},
    {"aten::threshold", kStructured<at::native::structured_threshold_out>},
};

}  // namespace

KernelTable activation_kernels() { return kActivationKernels; }

}  // namespace torch_ir
