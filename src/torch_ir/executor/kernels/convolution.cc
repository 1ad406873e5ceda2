#include <ATen/ops/_slow_conv2d_forward_native.h>
#include <ATen/ops/slow_conv3d_forward_native.h>
#include <ATen/ops/slow_conv_transpose2d_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

// aten::mkldnn_convolution has none: oneDNN's functions are hidden in LibTorch, and the operator
// returns memory of its own.
constexpr KernelEntry kConvolutionKernels[] = {
    {"aten::_slow_conv2d_forward", kOutFunction<&at::native::slow_conv2d_forward_out_cpu>},
    {"aten::slow_conv3d_forward", kOutFunction<&at::native::slow_conv3d_forward_out_cpu>},
    {"aten::slow_conv_transpose2d",
     kStructured<at::native::structured_slow_conv_transpose2d_structured_cpu>},
};

}  // namespace

KernelTable convolution_kernels() { return kConvolutionKernels; }

}  // namespace torch_ir
