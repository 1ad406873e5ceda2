// clang-format off: before all headers of ATen.
#include "torch_ir/runtime/kernels/stub.h"
// clang-format on

#include <ATen/native/batch_norm.h>
#include <ATen/native/layer_norm.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <array>

#include "torch_ir/runtime/kernels/families.h"
#include "torch_ir/runtime/kernels/structured.h"

// Both headers define these names, with different types.
#define forward_fn group_norm_forward_fn
#define backward_fn group_norm_backward_fn
#include <ATen/native/group_norm.h>
#undef forward_fn
#undef backward_fn

namespace torch_ir {
namespace {

at::Tensor optional_tensor(const c10::IValue& value) {
  return value.isNone() ? at::Tensor() : value.toTensor();
}

// Whether stubs can take the weight, at position `weight`, and the bias after it.
bool has_contiguous_parameters(const KernelCall& call, size_t weight) {
  return std::ranges::all_of(std::array{weight, weight + 1}, [&](size_t position) {
    const at::Tensor parameter = optional_tensor(call.arguments[position]);
    return !parameter.defined() || parameter.is_contiguous();
  });
}

// These kernels omit the intermediate memory that ATen allocates.
bool is_contiguous(const KernelCall& call, size_t weight) {
  const at::Tensor& input = call.arguments[0].toTensor();
  return kHasStubs && input.device().is_cpu() && input.numel() > 0 && input.is_contiguous() &&
         call.outputs[0].is_contiguous() && has_contiguous_parameters(call, weight);
}

bool is_dense_batch_norm(const KernelCall& call) {
  const at::Tensor& input = call.arguments[0].toTensor();
  const at::Tensor mean = optional_tensor(call.arguments[3]);
  const at::Tensor variance = optional_tensor(call.arguments[4]);
  const auto is_dense = [&](at::MemoryFormat format) {
    return input.is_contiguous(format) && call.outputs[0].is_contiguous(format);
  };
  return kHasStubs && input.numel() > 0 && has_contiguous_parameters(call, 1) &&
         (is_dense(at::MemoryFormat::Contiguous) || is_dense(at::MemoryFormat::ChannelsLast) ||
          is_dense(at::MemoryFormat::ChannelsLast3d)) &&
         mean.defined() && mean.is_contiguous() && variance.defined() && variance.is_contiguous();
}

// Normalizes with the running statistics, without updating them.
std::unique_ptr<PreparedKernel> prepare_batch_norm(const KernelCall& call) {
  const bool is_training = call.arguments[5].toBool();
  if (is_training || !call.arguments[0].toTensor().device().is_cpu()) return nullptr;
  if (!is_dense_batch_norm(call)) return kOutFunction<&at::native::batch_norm_cpu_out, 3>(call);
  return make_kernel([outputs = call.outputs, input = call.arguments[0].toTensor(),
                      weight = optional_tensor(call.arguments[1]),
                      bias = optional_tensor(call.arguments[2]),
                      mean = call.arguments[3].toTensor(), variance = call.arguments[4].toTensor(),
                      epsilon = call.arguments[7].toDouble()]() mutable {
    call_stub(at::native::batch_norm_cpu_stub, outputs[0], input, weight, bias, outputs[1],
              outputs[2], mean, variance, /*training=*/false, epsilon);
  });
}

std::unique_ptr<PreparedKernel> prepare_group_norm(const KernelCall& call) {
  if (!is_contiguous(call, 1)) return nullptr;
  return make_kernel([outputs = call.outputs, input = call.arguments[0].toTensor(),
                      weight = optional_tensor(call.arguments[1]),
                      bias = optional_tensor(call.arguments[2]), batch = call.arguments[3].toInt(),
                      channels = call.arguments[4].toInt(), plane = call.arguments[5].toInt(),
                      groups = call.arguments[6].toInt(),
                      epsilon = call.arguments[7].toDouble()]() mutable {
    call_stub(at::native::GroupNormKernel, input, weight, bias, batch, channels, plane, groups,
              epsilon, outputs[0], outputs[1], outputs[2]);
  });
}

std::unique_ptr<PreparedKernel> prepare_layer_norm(const KernelCall& call) {
  if (!is_contiguous(call, 2)) return nullptr;
  const int64_t row = c10::multiply_integers(call.arguments[1].toIntVector());
  return make_kernel([outputs = call.outputs, input = call.arguments[0].toTensor(),
                      weight = optional_tensor(call.arguments[2]),
                      bias = optional_tensor(call.arguments[3]), row,
                      epsilon = call.arguments[4].toDouble(),
                      has_statistics = call.is_used[1] || call.is_used[2]]() mutable {
    call_stub(at::native::LayerNormKernel, input, weight, bias, input.numel() / row, row, epsilon,
              &outputs[0], has_statistics ? &outputs[1] : nullptr,
              has_statistics ? &outputs[2] : nullptr);
  });
}

constexpr KernelEntry kNormalizationKernels[] = {
    {"aten::_log_softmax", kStructured<at::native::structured_log_softmax_cpu_out>},
    {"aten::_native_batch_norm_legit", &prepare_batch_norm},
    {"aten::_softmax", kStructured<at::native::structured_softmax_cpu_out>},
    {"aten::native_batch_norm", &prepare_batch_norm},
    {"aten::native_group_norm", &prepare_group_norm},
    {"aten::native_layer_norm", &prepare_layer_norm},
};

}  // namespace

KernelTable normalization_kernels() { return kNormalizationKernels; }

}  // namespace torch_ir
