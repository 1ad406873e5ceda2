#include <ATen/ops/abs_native.h>
#include <ATen/ops/acos_native.h>
#include <ATen/ops/acosh_native.h>
#include <ATen/ops/asin_native.h>
#include <ATen/ops/asinh_native.h>
#include <ATen/ops/atan_native.h>
#include <ATen/ops/atanh_native.h>
#include <ATen/ops/bitwise_not_native.h>
#include <ATen/ops/ceil_native.h>
#include <ATen/ops/cos_native.h>
#include <ATen/ops/cosh_native.h>
#include <ATen/ops/digamma_native.h>
#include <ATen/ops/erf_native.h>
#include <ATen/ops/erfc_native.h>
#include <ATen/ops/erfinv_native.h>
#include <ATen/ops/exp2_native.h>
#include <ATen/ops/exp_native.h>
#include <ATen/ops/expm1_native.h>
#include <ATen/ops/floor_native.h>
#include <ATen/ops/frac_native.h>
#include <ATen/ops/i0_native.h>
#include <ATen/ops/isneginf_native.h>
#include <ATen/ops/isposinf_native.h>
#include <ATen/ops/lgamma_native.h>
#include <ATen/ops/log10_native.h>
#include <ATen/ops/log1p_native.h>
#include <ATen/ops/log2_native.h>
#include <ATen/ops/log_native.h>
#include <ATen/ops/logical_not_native.h>
#include <ATen/ops/logit_native.h>
#include <ATen/ops/nan_to_num_native.h>
#include <ATen/ops/neg_native.h>
#include <ATen/ops/polygamma_native.h>
#include <ATen/ops/reciprocal_native.h>
#include <ATen/ops/round_native.h>
#include <ATen/ops/rsqrt_native.h>
#include <ATen/ops/sgn_native.h>
#include <ATen/ops/sigmoid_native.h>
#include <ATen/ops/sign_native.h>
#include <ATen/ops/signbit_native.h>
#include <ATen/ops/sin_native.h>
#include <ATen/ops/sinc_native.h>
#include <ATen/ops/sinh_native.h>
#include <ATen/ops/special_entr_native.h>
#include <ATen/ops/special_erfcx_native.h>
#include <ATen/ops/special_i0e_native.h>
#include <ATen/ops/special_i1_native.h>
#include <ATen/ops/special_i1e_native.h>
#include <ATen/ops/special_log_ndtr_native.h>
#include <ATen/ops/special_ndtri_native.h>
#include <ATen/ops/sqrt_native.h>
#include <ATen/ops/tan_native.h>
#include <ATen/ops/tanh_native.h>
#include <ATen/ops/trunc_native.h>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/out_function.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

constexpr KernelEntry kUnaryKernels[] = {
    {"aten::abs", kOutFunction<&at::native::abs_out>},
    {"aten::acos", kStructured<at::native::structured_acos_out>},
    {"aten::acosh", kStructured<at::native::structured_acosh_out>},
    {"aten::asin", kStructured<at::native::structured_asin_out>},
    {"aten::asinh", kStructured<at::native::structured_asinh_out>},
    {"aten::atan", kStructured<at::native::structured_atan_out>},
    {"aten::atanh", kStructured<at::native::structured_atanh_out>},
    {"aten::bitwise_not", kStructured<at::native::structured_bitwise_not_out>},
    {"aten::ceil", kStructured<at::native::structured_ceil_out>},
    {"aten::cos", kStructured<at::native::structured_cos_out>},
    {"aten::cosh", kStructured<at::native::structured_cosh_out>},
    {"aten::digamma", kStructured<at::native::structured_digamma_out>},
    {"aten::erf", kStructured<at::native::structured_erf_out>},
    {"aten::erfc", kStructured<at::native::structured_erfc_out>},
    {"aten::erfinv", kStructured<at::native::structured_erfinv_out>},
    {"aten::exp", kStructured<at::native::structured_exp_out>},
    {"aten::exp2", kStructured<at::native::structured_exp2_out>},
    {"aten::expm1", kStructured<at::native::structured_expm1_out>},
    {"aten::floor", kStructured<at::native::structured_floor_out>},
    {"aten::frac", kStructured<at::native::structured_frac_out>},
    {"aten::i0", kStructured<at::native::structured_i0_out>},
    {"aten::isneginf", kStructured<at::native::structured_isneginf_out>},
    {"aten::isposinf", kStructured<at::native::structured_isposinf_out>},
    {"aten::lgamma", kStructured<at::native::structured_lgamma_out>},
    {"aten::log", kStructured<at::native::structured_log_out>},
    {"aten::log10", kStructured<at::native::structured_log10_out>},
    {"aten::log1p", kStructured<at::native::structured_log1p_out>},
    {"aten::log2", kStructured<at::native::structured_log2_out>},
    {"aten::logical_not", kOutFunction<&at::native::logical_not_out>},
    {"aten::logit", kOutFunction<&at::native::logit_out>},
    {"aten::nan_to_num", kOutFunction<&at::native::nan_to_num_out>},
    {"aten::neg", kStructured<at::native::structured_neg_out>},
    {"aten::polygamma", kStructured<at::native::structured_polygamma_out>},
    {"aten::reciprocal", kStructured<at::native::structured_reciprocal_out>},
    {"aten::round", kStructured<at::native::structured_round_out>},
    {"aten::round.decimals", kStructured<at::native::structured_round_decimals_out>},
    {"aten::rsqrt", kStructured<at::native::structured_rsqrt_out>},
    {"aten::sgn", kStructured<at::native::structured_sgn_out>},
    {"aten::sigmoid", kStructured<at::native::structured_sigmoid_out>},
    {"aten::sign", kStructured<at::native::structured_sign_out>},
    {"aten::signbit", kStructured<at::native::structured_signbit_out>},
    {"aten::sin", kStructured<at::native::structured_sin_out>},
    {"aten::sinc", kStructured<at::native::structured_sinc_out>},
    {"aten::sinh", kStructured<at::native::structured_sinh_out>},
    {"aten::special_entr", kStructured<at::native::structured_special_entr_out>},
    {"aten::special_erfcx", kStructured<at::native::structured_special_erfcx_out>},
    {"aten::special_i0e", kStructured<at::native::structured_special_i0e_out>},
    {"aten::special_i1", kStructured<at::native::structured_special_i1_out>},
    {"aten::special_i1e", kStructured<at::native::structured_special_i1e_out>},
    {"aten::special_log_ndtr", kStructured<at::native::structured_special_log_ndtr_out>},
    {"aten::special_ndtri", kStructured<at::native::structured_special_ndtri_out>},
    {"aten::sqrt", kStructured<at::native::structured_sqrt_out>},
    {"aten::tan", kStructured<at::native::structured_tan_out>},
    {"aten::tanh", kStructured<at::native::structured_tanh_out>},
    {"aten::trunc", kStructured<at::native::structured_trunc_out>},
};

}  // namespace

KernelTable unary_kernels() { return kUnaryKernels; }

}  // namespace torch_ir
