// clang-format off: before all headers of ATen.
#include "torch_ir/runtime/kernels/stub.h"
// clang-format on

#include <ATen/native/transformers/attention.h>

#include "torch_ir/runtime/kernels/families.h"

namespace torch_ir {
namespace {

// The kernel expects the second and third dimensions of the result to be exchanged.
std::unique_ptr<PreparedKernel> prepare_flash_attention(const KernelCall& call) {
  const at::Tensor& output = call.outputs[0];
  const at::Tensor& sums = call.outputs[1];
  const double dropout = call.arguments[3].toDouble();
  const bool takes_call = kHasStubs && dropout == 0.0 && output.device().is_cpu() &&
                          output.dim() == 4 && sums.dim() == 3 && output.numel() > 0 &&
                          output.transpose(1, 2).is_contiguous() &&
                          sums.transpose(1, 2).is_contiguous();
  if (!takes_call) return nullptr;
  return make_kernel([exchanged = output.transpose(1, 2), exchanged_sums = sums.transpose(1, 2),
                      query = call.arguments[0].toTensor(), key = call.arguments[1].toTensor(),
                      value = call.arguments[2].toTensor(), is_causal = call.arguments[4].toBool(),
                      mask = call.arguments[5].to<std::optional<at::Tensor>>(),
                      scale = call.arguments[6].to<std::optional<double>>()] {
    call_stub(at::native::flash_attention_kernel, exchanged, exchanged_sums, query, key, value,
              /*dropout_p=*/0.0, is_causal, mask, scale);
  });
}

constexpr KernelEntry kAttentionKernels[] = {
    {"aten::_scaled_dot_product_flash_attention_for_cpu", &prepare_flash_attention},
};

}  // namespace

KernelTable attention_kernels() { return kAttentionKernels; }

}  // namespace torch_ir
