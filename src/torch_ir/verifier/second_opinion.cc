#include "torch_ir/verifier/second_opinion.h"

#include <ATen/Dispatch_v2.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/float64_run.h"
#include "torch_ir/verifier/tensor_blocks.h"

namespace torch_ir {
namespace {

constexpr double kBoundless = std::numeric_limits<double>::infinity();

// The greatest finite magnitude; 1 if that is 0.
double scale_of(const at::Tensor& float64) {
  double scale = 0;
  for_each_block({float64}, [&](c10::ArrayRef<at::Tensor> blocks, int64_t /*first*/) {
    // Booleans have no abs, and complex numbers lose their size when cast to double.
    const at::Tensor& block = blocks[0];
    const at::Tensor sizes =
        block.is_complex() ? block.abs().to(c10::kDouble) : block.to(c10::kDouble).abs();
    const auto* size = sizes.const_data_ptr<double>();
    for (int64_t i = 0; i < sizes.numel(); ++i) {
      if (std::isfinite(size[i])) scale = std::max(scale, size[i]);
    }
    return true;
  });
  return scale == 0 ? 1 : scale;
}

struct Deviation {
  // Over elements that are finite on both sides.
  double max_diff = 0;
  // Elements that differ and are not finite on both sides.
  int64_t num_non_finite = 0;
};

// Both must be strided and of one shape.
Deviation deviation_of(const at::Tensor& tensor, const at::Tensor& exact) {
  // Doubles cannot tell large integers apart.
  if (compares_exactly(exact.scalar_type()) && tensor.scalar_type() == exact.scalar_type()) {
    return {.max_diff = compare_tensors(tensor, exact, kExactTolerance).max_diff};
  }
  const bool is_complex = tensor.is_complex() || exact.is_complex();
  const c10::ScalarType wide = is_complex ? c10::kComplexDouble : c10::kDouble;
  Deviation deviation;
  for_each_block({tensor, exact}, [&](c10::ArrayRef<at::Tensor> blocks, int64_t /*first*/) {
    const at::Tensor a = blocks[0].to(wide);
    const at::Tensor e = blocks[1].to(wide);
    const at::Tensor is_finite = a.isfinite().logical_and(e.isfinite());
    const at::Tensor is_equal = a.eq(e).logical_or(a.isnan().logical_and(e.isnan()));
    deviation.num_non_finite += is_equal.logical_or(is_finite).logical_not().sum().item<int64_t>();
    const at::Tensor diffs = a.sub(e).abs().masked_select(is_finite);
    if (diffs.numel() == 0) return true;
    deviation.max_diff = std::max(deviation.max_diff, diffs.max().item<double>());
    return true;
  });
  return deviation;
}

// The greatest error of rounding to the dtype: half a unit in the last place, or half of the
// smallest number.
template <class Number>
double rounding_error(double scale) {
  using Limits = std::numeric_limits<Number>;
  // LibTorch's epsilon() of Float8_e5m2fnuz is half of this.
  const double epsilon = std::ldexp(1.0, 1 - Limits::digits);
  double least = static_cast<double>(Limits::min());
  // Powers of two alone have no subnormal numbers.
  if constexpr (requires { Limits::denorm_min(); })
    least = static_cast<double>(Limits::denorm_min());
  return std::max(epsilon, least / scale) / 2;
}

double rounding_error(c10::ScalarType dtype, double scale) {
  if (compares_exactly(dtype)) return 0;
  return AT_DISPATCH_V2(c10::toRealValueType(dtype), "rounding_error",
                        AT_WRAP([&] { return rounding_error<scalar_t>(scale); }),
                        AT_EXPAND(AT_FLOATING_TYPES), AT_EXPAND(AT_FLOAT8_TYPES), at::kHalf,
                        at::kBFloat16);
}

// The least error that eager is taken to have.
double least_error(const at::Tensor& eager, double scale) {
  constexpr int64_t kFew = 64;
  const c10::ScalarType dtype = c10::toRealValueType(eager.scalar_type());
  const bool is_wide = dtype == c10::kFloat || dtype == c10::kDouble;
  return rounding_error(dtype, scale) * (is_wide && eager.numel() < kFew ? 4 : 1);
}

double factor_of(const SecondOpinion& opinion, double rounding) {
  if (opinion.executor_non_finite != opinion.eager_non_finite) {
    return opinion.executor_non_finite > opinion.eager_non_finite ? kBoundless : 0;
  }
  const double executor = std::max(opinion.executor_error, rounding);
  const double eager = std::max(opinion.eager_error, rounding);
  if (executor == eager) return 1;
  return eager == 0 ? kBoundless : executor / eager;
}

}  // namespace

std::string opinion_text(const SecondOpinion& opinion) {
  if (!opinion.reason.empty()) return "no second opinion: " + opinion.reason;
  if (opinion.executor_non_finite > opinion.eager_non_finite) {
    return fmt::format("worse than eager: mismatched NaN or infinite elements: {} (eager: {})",
                       opinion.executor_non_finite, opinion.eager_non_finite);
  }
  if (opinion.executor_non_finite < opinion.eager_non_finite) {
    return fmt::format(
        "eager is the inaccurate one: mismatched NaN or infinite elements of eager: {}",
        opinion.eager_non_finite);
  }
  if (std::isinf(opinion.factor)) return "worse than eager, which is exact";
  if (opinion.factor > kAsGoodAsEager) {
    return fmt::format("worse than eager by a factor of {:.3g}", opinion.factor);
  }
  if (opinion.factor * kAsGoodAsEager >= 1) return "as good as eager";
  return opinion.factor == 0 ? "eager is the inaccurate one"
                             : fmt::format("eager is the inaccurate one, by a factor of {:.3g}",
                                           1 / opinion.factor);
}

std::string opinion_problem(const SecondOpinion& opinion, double error_factor) {
  if (opinion.reason.empty() && opinion.factor <= error_factor) return "";
  std::string text = opinion_text(opinion);
  if (opinion.reason.empty()) text += fmt::format("; the limit is {}", error_factor);
  return text;
}

SecondOpinion second_opinion(const at::Tensor& executor, const at::Tensor& eager,
                             const at::Tensor& float64) {
  try {
    if (!executor.defined() || !eager.defined() || !float64.defined()) {
      return {.reason = "no tensor to compare"};
    }
    for (const auto& [who, tensor] : {std::pair("the graph", &executor), {"eager", &eager}}) {
      if (tensor->sizes() == float64.sizes()) continue;
      return {.reason =
                  fmt::format("{} gives shape {}, but float64 gives {}", who,
                              shape_list_text(tensor->sizes()), shape_list_text(float64.sizes()))};
    }
    const at::Tensor exact = strided(float64.detach());
    const double scale = scale_of(exact);
    const at::Tensor sides[] = {strided(executor.detach()), strided(eager.detach())};
    const Deviation of_executor = deviation_of(sides[0], exact);
    // Sides of equal bits, the usual case, are measured once.
    const Deviation of_eager =
        have_equal_bits(sides[0], sides[1]) ? of_executor : deviation_of(sides[1], exact);
    SecondOpinion opinion{.executor_error = of_executor.max_diff / scale,
                          .eager_error = of_eager.max_diff / scale,
                          .executor_non_finite = of_executor.num_non_finite,
                          .eager_non_finite = of_eager.num_non_finite};
    opinion.factor = factor_of(opinion, least_error(eager, scale));
    return opinion;
  } catch (const std::exception& error) {
    return {.reason = message_text(error)};
  }
}

std::vector<SecondOpinion> second_opinions(const Case& graph_case,
                                           const std::vector<at::Tensor>& executor,
                                           const std::vector<at::Tensor>& eager) {
  const Program& program = *graph_case.program;
  Float64Run run(graph_case);
  const std::vector<at::Tensor> float64 = run.outputs();
  const auto at_or_undefined = [](const std::vector<at::Tensor>& tensors, size_t i) {
    return i < tensors.size() ? tensors[i] : at::Tensor();
  };
  std::vector<SecondOpinion> opinions;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    std::string doubt = run.doubt(program[program.outputs[i]].name);
    opinions.push_back(doubt.empty()
                           ? second_opinion(at_or_undefined(executor, i), at_or_undefined(eager, i),
                                            at_or_undefined(float64, i))
                           : SecondOpinion{.reason = std::move(doubt)});
  }
  return opinions;
}

}  // namespace torch_ir
