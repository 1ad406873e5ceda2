#include "torch_ir/runtime/kernels/families.h"
#include "torch_ir/runtime/kernels/structured.h"

namespace torch_ir {
namespace {

constexpr auto kFloorDivide =
    static_cast<at::Tensor& (*)(const at::Tensor&, const at::Tensor&, at::Tensor&)>(
        &at::native::floor_divide_out);
constexpr auto kMaskedFill =
    static_cast<at::Tensor& (*)(at::Tensor&, const at::Tensor&, const at::Scalar&)>(
        &at::native::masked_fill__cpu);

constexpr KernelEntry kPlainKernels[] = {
    // aten::mkldnn_convolution has no kernel: LibTorch hides oneDNN's functions, and the operator
    // returns memory of its own.
    {"aten::_slow_conv2d_forward", kOutFunction<&at::native::slow_conv2d_forward_out_cpu>},
    {"aten::elu", kStructured<at::native::structured_elu_out>},
    {"aten::gelu", kStructured<at::native::structured_gelu_out_cpu>},
    {"aten::hardsigmoid", kStructured<at::native::structured_hardsigmoid_out>},
    {"aten::hardswish", kOutFunction<&at::native::hardswish_out>},
    {"aten::hardtanh", kOutFunction<&at::native::hardtanh_out>},
    {"aten::leaky_relu", kStructured<at::native::structured_leaky_relu_out>},
    {"aten::silu", kStructured<at::native::structured_silu_out>},
    {"aten::softplus", kStructured<at::native::structured_softplus_out>},
    {"aten::abs", kOutFunction<&at::native::abs_out>},
    {"aten::cos", kStructured<at::native::structured_cos_out>},
    {"aten::erf", kStructured<at::native::structured_erf_out>},
    {"aten::exp", kStructured<at::native::structured_exp_out>},
    {"aten::isneginf", kStructured<at::native::structured_isneginf_out>},
    {"aten::log", kStructured<at::native::structured_log_out>},
    {"aten::logical_not", kOutFunction<&at::native::logical_not_out>},
    {"aten::neg", kStructured<at::native::structured_neg_out>},
    {"aten::reciprocal", kStructured<at::native::structured_reciprocal_out>},
    {"aten::rsqrt", kStructured<at::native::structured_rsqrt_out>},
    {"aten::sigmoid", kStructured<at::native::structured_sigmoid_out>},
    {"aten::sin", kStructured<at::native::structured_sin_out>},
    {"aten::sqrt", kStructured<at::native::structured_sqrt_out>},
    {"aten::tanh", kStructured<at::native::structured_tanh_out>},
    {"aten::add.Tensor", kStructured<at::native::structured_ufunc_add_CPU>},
    {"aten::clamp", kStructured<at::native::structured_clamp_out>},
    {"aten::clamp_min", kStructured<at::native::structured_clamp_min_out>},
    {"aten::div.Tensor", kStructured<at::native::structured_div_out>},
    {"aten::floor_divide", kOutFunction<kFloorDivide>},
    {"aten::le.Tensor", kStructured<at::native::structured_le_Tensor_out>},
    {"aten::masked_fill_.Scalar", kInPlaceFunction<kMaskedFill>},
    {"aten::maximum", kStructured<at::native::structured_maximum_out>},
    {"aten::minimum", kStructured<at::native::structured_minimum_out>},
    {"aten::mul.Tensor", kStructured<at::native::structured_mul_out>},
    {"aten::pow.Tensor_Scalar", kStructured<at::native::structured_pow_Tensor_Scalar_out>},
    {"aten::sub.Tensor", kStructured<at::native::structured_sub_out>},
    {"aten::where.self", kOutFunction<&at::native::where_self_out>},
    {"aten::amax", kStructured<at::native::structured_amax_out>},
    {"aten::argmax", kStructured<at::native::structured_argmax_out>},
    {"aten::cumsum", kStructured<at::native::structured_cumsum_out>},
    {"aten::mean.dim", kStructured<at::native::structured_mean_out>},
    {"aten::sum.dim_IntList", kStructured<at::native::structured_sum_out>},
    {"aten::topk", kStructured<at::native::structured_topk_out_cpu, 2>},
};

}  // namespace

KernelTable plain_kernels() { return kPlainKernels; }

}  // namespace torch_ir
