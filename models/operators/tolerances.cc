#include "models/operators/tolerances.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <limits>

namespace torch_ir {
namespace {

struct SteppedOperator {
  std::string_view op;
  std::string_view what_is_rounded;
  // The absolute tolerance, in distances of numbers around 1.
  double num_steps = 1;
};

// Eager rounds intermediate results of these to float16 and bfloat16. The exact result, rounded
// once, differs from eager's by more than the usual tolerance where it is close to 0.
constexpr std::array kSteppedOperators = std::to_array<SteppedOperator>({
    {"_native_batch_norm_legit.no_stats", "scale and shift are rounded to the dtype"},
    {"_scaled_dot_product_attention_math", "scores and weights are rounded to the dtype"},
    {"_scaled_dot_product_flash_attention_for_cpu", "weights are rounded to the dtype"},
    {"addbmm", "the sum of products is rounded to the dtype"},
    {"addr", "the product is rounded to the dtype"},
    {"col2im", "sums are rounded to the dtype, term by term"},
    {"conv_tbc", "sums are rounded to the dtype, position by position"},
    {"conv_transpose1d", "sums are rounded to the dtype, position by position"},
    {"conv_transpose2d.input", "sums are rounded to the dtype, position by position", 4},
    {"conv_transpose3d.input", "sums are rounded to the dtype, position by position", 4},
    {"convolution", "sums of a transposed one are rounded to the dtype, position by position"},
    {"convolution_backward", "sums are rounded to the dtype, position by position"},
    {"cosine_similarity", "norms are rounded to the dtype"},
    {"cross", "products are rounded to the dtype"},
    {"gru.input", "gates and states are rounded to the dtype"},
    {"gru_cell", "gates are rounded to the dtype"},
    {"instance_norm", "scale and shift are rounded to the dtype"},
    {"kl_div", "products are rounded to the dtype"},
    {"linalg_cross", "products are rounded to the dtype"},
    {"linalg_multi_dot", "the first product is rounded to the dtype"},
    {"linalg_vecdot", "products are rounded to the dtype"},
    {"log_softmax.int", "the largest element and the sum are rounded to the dtype"},
    {"logit", "the quotient is rounded to the dtype"},
    {"lstm.input", "gates and states are rounded to the dtype"},
    {"lstm_cell", "gates are rounded to the dtype"},
    {"nansum", "sums are rounded to the dtype"},
    {"native_layer_norm_backward", "products are rounded to the dtype"},
    {"prod.dim_int", "products are rounded to the dtype, factor by factor"},
    {"rnn_relu.input", "products and states are rounded to the dtype"},
    {"rnn_relu_cell", "products are rounded to the dtype"},
    {"rnn_tanh.input", "products and states are rounded to the dtype"},
    {"rnn_tanh_cell", "products are rounded to the dtype"},
    {"scaled_dot_product_attention", "weights are rounded to the dtype"},
    {"special_i0e", "coefficients are rounded to the dtype"},
    {"special_ndtr", "the error function is rounded to the dtype"},
    {"upsample_bicubic2d", "weights are rounded to the dtype"},
    {"upsample_bicubic2d.vec", "weights are rounded to the dtype"},
    {"upsample_linear1d", "weights are rounded to the dtype"},
    {"upsample_linear1d.vec", "weights are rounded to the dtype"},
    {"upsample_trilinear3d", "weights are rounded to the dtype"},
    {"upsample_trilinear3d.vec", "weights are rounded to the dtype"},
});
static_assert(std::ranges::is_sorted(kSteppedOperators, {}, &SteppedOperator::op));

// The distance of numbers around 1.
std::optional<double> step_of(c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Half) return std::numeric_limits<c10::Half>::epsilon();
  if (dtype == c10::ScalarType::BFloat16) return std::numeric_limits<c10::BFloat16>::epsilon();
  return std::nullopt;
}

}  // namespace

std::optional<CaseTolerance> find_case_tolerance(std::string_view op, c10::ScalarType dtype) {
  const auto found = std::ranges::lower_bound(kSteppedOperators, op, {}, &SteppedOperator::op);
  if (found == kSteppedOperators.end() || found->op != op) return std::nullopt;
  const std::optional<double> step = step_of(dtype);
  if (!step) return std::nullopt;
  return CaseTolerance{{.rtol = default_tolerance(dtype).rtol, .atol = found->num_steps * *step},
                       found->what_is_rounded};
}

}  // namespace torch_ir
