#include <ATen/ops/add_native.h>
#include <ATen/ops/addcdiv_native.h>
#include <ATen/ops/addcmul_native.h>
#include <ATen/ops/atan2_native.h>
#include <ATen/ops/bitwise_and_native.h>
#include <ATen/ops/bitwise_left_shift_native.h>
#include <ATen/ops/bitwise_or_native.h>
#include <ATen/ops/bitwise_right_shift_native.h>
#include <ATen/ops/bitwise_xor_native.h>
#include <ATen/ops/clamp_max_native.h>
#include <ATen/ops/clamp_min_native.h>
#include <ATen/ops/clamp_native.h>
#include <ATen/ops/copysign_native.h>
#include <ATen/ops/div_native.h>
#include <ATen/ops/floor_divide_native.h>
#include <ATen/ops/fmax_native.h>
#include <ATen/ops/fmin_native.h>
#include <ATen/ops/fmod_native.h>
#include <ATen/ops/gcd_native.h>
#include <ATen/ops/heaviside_native.h>
#include <ATen/ops/hypot_native.h>
#include <ATen/ops/igamma_native.h>
#include <ATen/ops/igammac_native.h>
#include <ATen/ops/lcm_native.h>
#include <ATen/ops/lerp_native.h>
#include <ATen/ops/logaddexp2_native.h>
#include <ATen/ops/logaddexp_native.h>
#include <ATen/ops/maximum_native.h>
#include <ATen/ops/minimum_native.h>
#include <ATen/ops/mul_native.h>
#include <ATen/ops/nextafter_native.h>
#include <ATen/ops/pow_native.h>
#include <ATen/ops/remainder_native.h>
#include <ATen/ops/special_xlog1py_native.h>
#include <ATen/ops/special_zeta_native.h>
#include <ATen/ops/sub_native.h>
#include <ATen/ops/xlogy_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

constexpr auto kFloorDivide =
    static_cast<at::Tensor& (*)(const at::Tensor&, const at::Tensor&, at::Tensor&)>(
        &at::native::floor_divide_out);

constexpr KernelEntry kArithmeticKernels[] = {
    {"aten::add.Tensor", &Structured<at::native::structured_ufunc_add_CPU>::prepare},
    {"aten::addcdiv", &Structured<at::native::structured_addcdiv_out>::prepare},
    {"aten::addcmul", &Structured<at::native::structured_addcmul_out>::prepare},
    {"aten::atan2", &Structured<at::native::structured_atan2_out>::prepare},
    {"aten::bitwise_and.Tensor", &Structured<at::native::structured_bitwise_and_out>::prepare},
    {"aten::bitwise_left_shift.Tensor",
     &Structured<at::native::structured_bitwise_left_shift_out>::prepare},
    {"aten::bitwise_or.Tensor", &Structured<at::native::structured_bitwise_or_out>::prepare},
    {"aten::bitwise_right_shift.Tensor",
     &Structured<at::native::structured_bitwise_right_shift_out>::prepare},
    {"aten::bitwise_xor.Tensor", &Structured<at::native::structured_bitwise_xor_out>::prepare},
    {"aten::clamp", &Structured<at::native::structured_clamp_out>::prepare},
    {"aten::clamp.Tensor", &Structured<at::native::structured_clamp_Tensor_out>::prepare},
    {"aten::clamp_max", &Structured<at::native::structured_clamp_max_out>::prepare},
    {"aten::clamp_max.Tensor", &Structured<at::native::structured_clamp_max_Tensor_out>::prepare},
    {"aten::clamp_min", &Structured<at::native::structured_clamp_min_out>::prepare},
    {"aten::clamp_min.Tensor", &Structured<at::native::structured_clamp_min_Tensor_out>::prepare},
    {"aten::copysign.Tensor", &Structured<at::native::structured_copysign_out>::prepare},
    {"aten::div.Tensor", &Structured<at::native::structured_div_out>::prepare},
    {"aten::div.Tensor_mode", &Structured<at::native::structured_div_out_mode>::prepare},
    {"aten::floor_divide", &OutFunction<kFloorDivide>::prepare},
    {"aten::fmax", &Structured<at::native::structured_fmax_out>::prepare},
    {"aten::fmin", &Structured<at::native::structured_fmin_out>::prepare},
    {"aten::fmod.Tensor", &Structured<at::native::structured_fmod_out>::prepare},
    {"aten::gcd", &Structured<at::native::structured_gcd_out>::prepare},
    {"aten::heaviside", &Structured<at::native::structured_heaviside_out>::prepare},
    {"aten::hypot", &Structured<at::native::structured_hypot_out>::prepare},
    {"aten::igamma", &Structured<at::native::structured_igamma_out>::prepare},
    {"aten::igammac", &Structured<at::native::structured_igammac_out>::prepare},
    {"aten::lcm", &Structured<at::native::structured_lcm_out>::prepare},
    {"aten::lerp.Scalar", &Structured<at::native::structured_lerp_Scalar>::prepare},
    {"aten::lerp.Tensor", &Structured<at::native::structured_lerp_Tensor>::prepare},
    {"aten::logaddexp", &Structured<at::native::structured_logaddexp_out>::prepare},
    {"aten::logaddexp2", &Structured<at::native::structured_logaddexp2_out>::prepare},
    {"aten::maximum", &Structured<at::native::structured_maximum_out>::prepare},
    {"aten::minimum", &Structured<at::native::structured_minimum_out>::prepare},
    {"aten::mul.Tensor", &Structured<at::native::structured_mul_out>::prepare},
    {"aten::nextafter", &Structured<at::native::structured_nextafter_out>::prepare},
    {"aten::pow.Scalar", &Structured<at::native::structured_pow_Scalar_out>::prepare},
    {"aten::pow.Tensor_Scalar", &Structured<at::native::structured_pow_Tensor_Scalar_out>::prepare},
    {"aten::pow.Tensor_Tensor", &Structured<at::native::structured_pow_Tensor_Tensor_out>::prepare},
    {"aten::remainder.Tensor", &Structured<at::native::structured_remainder_out>::prepare},
    {"aten::special_xlog1py", &Structured<at::native::structured_special_xlog1py_out>::prepare},
    {"aten::special_zeta", &Structured<at::native::structured_special_zeta_out>::prepare},
    {"aten::sub.Tensor", &Structured<at::native::structured_sub_out>::prepare},
    {"aten::xlogy.Tensor", &Structured<at::native::structured_xlogy_out>::prepare},
};

}  // namespace

KernelTable arithmetic_kernels() { return kArithmeticKernels; }

}  // namespace torch_ir
