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
    {"aten::add.Tensor", kStructured<at::native::structured_ufunc_add_CPU>},
    {"aten::addcdiv", kStructured<at::native::structured_addcdiv_out>},
    {"aten::addcmul", kStructured<at::native::structured_addcmul_out>},
    {"aten::atan2", kStructured<at::native::structured_atan2_out>},
    {"aten::bitwise_and.Tensor", kStructured<at::native::structured_bitwise_and_out>},
    {"aten::bitwise_left_shift.Tensor", kStructured<at::native::structured_bitwise_left_shift_out>},
    {"aten::bitwise_or.Tensor", kStructured<at::native::structured_bitwise_or_out>},
    {"aten::bitwise_right_shift.Tensor",
     kStructured<at::native::structured_bitwise_right_shift_out>},
    {"aten::bitwise_xor.Tensor", kStructured<at::native::structured_bitwise_xor_out>},
    {"aten::clamp", kStructured<at::native::structured_clamp_out>},
    {"aten::clamp.Tensor", kStructured<at::native::structured_clamp_Tensor_out>},
    {"aten::clamp_max", kStructured<at::native::structured_clamp_max_out>},
    {"aten::clamp_max.Tensor", kStructured<at::native::structured_clamp_max_Tensor_out>},
    {"aten::clamp_min", kStructured<at::native::structured_clamp_min_out>},
    {"aten::clamp_min.Tensor", kStructured<at::native::structured_clamp_min_Tensor_out>},
    {"aten::copysign.Tensor", kStructured<at::native::structured_copysign_out>},
    {"aten::div.Tensor", kStructured<at::native::structured_div_out>},
    {"aten::div.Tensor_mode", kStructured<at::native::structured_div_out_mode>},
    {"aten::floor_divide", kOutFunction<kFloorDivide>},
    {"aten::fmax", kStructured<at::native::structured_fmax_out>},
    {"aten::fmin", kStructured<at::native::structured_fmin_out>},
    {"aten::fmod.Tensor", kStructured<at::native::structured_fmod_out>},
    {"aten::gcd", kStructured<at::native::structured_gcd_out>},
    {"aten::heaviside", kStructured<at::native::structured_heaviside_out>},
    {"aten::hypot", kStructured<at::native::structured_hypot_out>},
    {"aten::igamma", kStructured<at::native::structured_igamma_out>},
    {"aten::igammac", kStructured<at::native::structured_igammac_out>},
    {"aten::lcm", kStructured<at::native::structured_lcm_out>},
    {"aten::lerp.Scalar", kStructured<at::native::structured_lerp_Scalar>},
    {"aten::lerp.Tensor", kStructured<at::native::structured_lerp_Tensor>},
    {"aten::logaddexp", kStructured<at::native::structured_logaddexp_out>},
    {"aten::logaddexp2", kStructured<at::native::structured_logaddexp2_out>},
    {"aten::maximum", kStructured<at::native::structured_maximum_out>},
    {"aten::minimum", kStructured<at::native::structured_minimum_out>},
    {"aten::mul.Tensor", kStructured<at::native::structured_mul_out>},
    {"aten::nextafter", kStructured<at::native::structured_nextafter_out>},
    {"aten::pow.Scalar", kStructured<at::native::structured_pow_Scalar_out>},
    {"aten::pow.Tensor_Scalar", kStructured<at::native::structured_pow_Tensor_Scalar_out>},
    {"aten::pow.Tensor_Tensor", kStructured<at::native::structured_pow_Tensor_Tensor_out>},
    {"aten::remainder.Tensor", kStructured<at::native::structured_remainder_out>},
    {"aten::special_xlog1py", kStructured<at::native::structured_special_xlog1py_out>},
    {"aten::special_zeta", kStructured<at::native::structured_special_zeta_out>},
    {"aten::sub.Tensor", kStructured<at::native::structured_sub_out>},
    {"aten::xlogy.Tensor", kStructured<at::native::structured_xlogy_out>},
};

}  // namespace

KernelTable arithmetic_kernels() { return kArithmeticKernels; }

}  // namespace torch_ir
