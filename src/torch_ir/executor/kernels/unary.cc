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
    {"aten::abs", &OutFunction<&at::native::abs_out>::prepare},
    {"aten::acos", &Structured<at::native::structured_acos_out>::prepare},
    {"aten::acosh", &Structured<at::native::structured_acosh_out>::prepare},
    {"aten::asin", &Structured<at::native::structured_asin_out>::prepare},
    {"aten::asinh", &Structured<at::native::structured_asinh_out>::prepare},
    {"aten::atan", &Structured<at::native::structured_atan_out>::prepare},
    {"aten::atanh", &Structured<at::native::structured_atanh_out>::prepare},
    {"aten::bitwise_not", &Structured<at::native::structured_bitwise_not_out>::prepare},
    {"aten::ceil", &Structured<at::native::structured_ceil_out>::prepare},
    {"aten::cos", &Structured<at::native::structured_cos_out>::prepare},
    {"aten::cosh", &Structured<at::native::structured_cosh_out>::prepare},
    {"aten::digamma", &Structured<at::native::structured_digamma_out>::prepare},
    {"aten::erf", &Structured<at::native::structured_erf_out>::prepare},
    {"aten::erfc", &Structured<at::native::structured_erfc_out>::prepare},
    {"aten::erfinv", &Structured<at::native::structured_erfinv_out>::prepare},
    {"aten::exp", &Structured<at::native::structured_exp_out>::prepare},
    {"aten::exp2", &Structured<at::native::structured_exp2_out>::prepare},
    {"aten::expm1", &Structured<at::native::structured_expm1_out>::prepare},
    {"aten::floor", &Structured<at::native::structured_floor_out>::prepare},
    {"aten::frac", &Structured<at::native::structured_frac_out>::prepare},
    {"aten::i0", &Structured<at::native::structured_i0_out>::prepare},
    {"aten::isneginf", &Structured<at::native::structured_isneginf_out>::prepare},
    {"aten::isposinf", &Structured<at::native::structured_isposinf_out>::prepare},
    {"aten::lgamma", &Structured<at::native::structured_lgamma_out>::prepare},
    {"aten::log", &Structured<at::native::structured_log_out>::prepare},
    {"aten::log10", &Structured<at::native::structured_log10_out>::prepare},
    {"aten::log1p", &Structured<at::native::structured_log1p_out>::prepare},
    {"aten::log2", &Structured<at::native::structured_log2_out>::prepare},
    {"aten::logical_not", &OutFunction<&at::native::logical_not_out>::prepare},
    {"aten::logit", &OutFunction<&at::native::logit_out>::prepare},
    {"aten::nan_to_num", &OutFunction<&at::native::nan_to_num_out>::prepare},
    {"aten::neg", &Structured<at::native::structured_neg_out>::prepare},
    {"aten::polygamma", &Structured<at::native::structured_polygamma_out>::prepare},
    {"aten::reciprocal", &Structured<at::native::structured_reciprocal_out>::prepare},
    {"aten::round", &Structured<at::native::structured_round_out>::prepare},
    {"aten::round.decimals", &Structured<at::native::structured_round_decimals_out>::prepare},
    {"aten::rsqrt", &Structured<at::native::structured_rsqrt_out>::prepare},
    {"aten::sgn", &Structured<at::native::structured_sgn_out>::prepare},
    {"aten::sigmoid", &Structured<at::native::structured_sigmoid_out>::prepare},
    {"aten::sign", &Structured<at::native::structured_sign_out>::prepare},
    {"aten::signbit", &Structured<at::native::structured_signbit_out>::prepare},
    {"aten::sin", &Structured<at::native::structured_sin_out>::prepare},
    {"aten::sinc", &Structured<at::native::structured_sinc_out>::prepare},
    {"aten::sinh", &Structured<at::native::structured_sinh_out>::prepare},
    {"aten::special_entr", &Structured<at::native::structured_special_entr_out>::prepare},
    {"aten::special_erfcx", &Structured<at::native::structured_special_erfcx_out>::prepare},
    {"aten::special_i0e", &Structured<at::native::structured_special_i0e_out>::prepare},
    {"aten::special_i1", &Structured<at::native::structured_special_i1_out>::prepare},
    {"aten::special_i1e", &Structured<at::native::structured_special_i1e_out>::prepare},
    {"aten::special_log_ndtr", &Structured<at::native::structured_special_log_ndtr_out>::prepare},
    {"aten::special_ndtri", &Structured<at::native::structured_special_ndtri_out>::prepare},
    {"aten::sqrt", &Structured<at::native::structured_sqrt_out>::prepare},
    {"aten::tan", &Structured<at::native::structured_tan_out>::prepare},
    {"aten::tanh", &Structured<at::native::structured_tanh_out>::prepare},
    {"aten::trunc", &Structured<at::native::structured_trunc_out>::prepare},
};

}  // namespace

KernelTable unary_kernels() { return kUnaryKernels; }

}  // namespace torch_ir
