#include "torch_ir/verifier/arithmetic.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/where.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/verifier/tensor_blocks.h"

namespace torch_ir {
namespace {

struct Format {
  std::string_view name;
  // Bits of the mantissa, with the leading one.
  int digits;
};

// By Arithmetic.
constexpr Format kFormats[] = {{"float16", 11}, {"bfloat16", 8}, {"tf32", 11}};

at::Tensor round_to_tf32(const at::Tensor& tensor) {
  constexpr int kDropped = std::numeric_limits<float>::digits - 11;
  constexpr int64_t kHalf = int64_t{1} << (kDropped - 1);
  const at::Tensor narrow = tensor.to(c10::kFloat);
  const at::Tensor bits = narrow.view(c10::kInt);
  const at::Tensor is_odd = bits.bitwise_right_shift(kDropped).bitwise_and(1);
  const at::Tensor rounded = bits.add(is_odd).add(kHalf - 1).bitwise_and(-(kHalf << 1));
  return at::where(narrow.isfinite(), rounded.view(c10::kFloat), narrow).to(tensor.scalar_type());
}

// An executor without infinities may have any large number in their place, as in masks.
bool is_as_infinite(double executor, double infinity) {
  constexpr double kLarge = 1e4;
  return std::isnan(infinity)
             ? std::isnan(executor)
             : std::signbit(executor) == std::signbit(infinity) && std::abs(executor) >= kLarge;
}

struct Sums {
  double square = 0;
  double error = 0;
  double product = 0;
  double max = 0;

  void add(double error_here, double value) {
    square += error_here * error_here;
    error += error_here;
    product += error_here * value;
    max = std::max(max, std::abs(error_here));
  }
  ErrorFigures figures(double count, double value_square) const {
    if (count == 0) return {};
    return {.rms = std::sqrt(square / count),
            .max = max,
            .mean = error / count,
            .slope = value_square == 0 ? 0 : product / value_square};
  }
};

double ratio_of(double error, double unit) {
  if (error == 0) return 0;
  return unit == 0 ? std::numeric_limits<double>::infinity() : error / unit;
}

// What a kind of judgement accepts. Roundings and limits are in units of the arithmetic.
struct ErrorLimits {
  double typical_rms;
  double typical_max;
  double rms_ratio;
  double max_ratio;
  double slope = std::numeric_limits<double>::infinity();
  double mean = std::numeric_limits<double>::infinity();
};

constexpr double kLeastDeviations = 6;

// `excess` beyond `limit` that chance does not explain; otherwise 0.
double systematic(double excess, double deviation) {
  return std::abs(excess) >= kLeastDeviations * deviation ? excess : 0;
}

// "its values are 1 % too large"; empty if no error is systematic.
std::string systematic_text(const ArithmeticVerdict& verdict) {
  if (verdict.slope != 0 && std::abs(verdict.slope) >= std::abs(verdict.mean)) {
    return fmt::format("its values are {:.2g} % too {}", 100 * std::abs(verdict.slope),
                       verdict.slope > 0 ? "large" : "small");
  }
  if (verdict.mean == 0) return "";
  return fmt::format("its values are shifted by {:.2g} % of their RMS", 100 * verdict.mean);
}

ArithmeticVerdict judge_by(const ErrorComparison& errors, double unit, const ErrorLimits& limits,
                           std::string_view kind, double step) {
  const auto root = std::sqrt(static_cast<double>(std::max<int64_t>(1, errors.num_compared)));
  const ErrorFigures& own = errors.executor;
  const ErrorFigures& yardstick = errors.yardstick;
  // The RMS of a uniform error is its greatest value / sqrt(3).
  const double rms_unit = std::hypot(
      std::max(yardstick.rms, limits.typical_rms * unit * errors.value_rms), step / std::sqrt(12.));
  const double max_unit =
      std::max(yardstick.max, limits.typical_max * unit * errors.value_max) + step / 2;
  ArithmeticVerdict verdict{.rms_ratio = ratio_of(own.rms, rms_unit),
                            .max_ratio = ratio_of(own.max, max_unit),
                            .signal_to_noise = snr_of(errors.value_rms, own.rms)};
  if (errors.value_rms > 0) {
    const double deviation = own.rms / (errors.value_rms * root);
    verdict.slope = systematic(own.slope - yardstick.slope, deviation);
    verdict.mean = systematic((own.mean - yardstick.mean) / errors.value_rms, deviation);
  }
  const bool has_signal =
      snr_of(errors.value_rms, yardstick.rms) >= kLeastSignalToNoise && step == 0;
  if (errors.num_non_finite > 0) {
    verdict.problem = fmt::format("mismatched NaN or infinite elements: {}", errors.num_non_finite);
  } else if (verdict.rms_ratio > limits.rms_ratio) {
    verdict.problem = fmt::format("an RMS error of {:.3g} {}; the limit is {:.3g}",
                                  verdict.rms_ratio, kind, limits.rms_ratio);
  } else if (verdict.max_ratio > limits.max_ratio) {
    verdict.problem = fmt::format("a max. error of {:.3g} {}; the limit is {:.3g}",
                                  verdict.max_ratio, kind, limits.max_ratio);
  } else if (has_signal && verdict.signal_to_noise < kLeastSignalToNoise) {
    verdict.problem = fmt::format("an SNR of {:.3g} dB; the limit is {} dB",
                                  verdict.signal_to_noise, kLeastSignalToNoise);
  } else if (step == 0 && (std::abs(verdict.slope) > limits.slope * unit ||
                           std::abs(verdict.mean) > limits.mean * unit)) {
    verdict.problem = "a systematic error";
  }
  const std::string text = systematic_text(verdict);
  if (!verdict.problem.empty() && !text.empty()) verdict.problem += "; " + text;
  return verdict;
}

}  // namespace

std::string_view arithmetic_name(Arithmetic arithmetic) {
  return kFormats[static_cast<size_t>(arithmetic)].name;
}

Arithmetic parse_arithmetic(std::string_view name) {
  const auto* found = std::ranges::find(kFormats, name, &Format::name);
  if (found != std::end(kFormats)) return static_cast<Arithmetic>(found - kFormats);
  throw Error("unknown compute dtype '" + printable(name) +
              "'; expected one of: float16, bfloat16, tf32");
}

double rounding_unit(Arithmetic arithmetic) {
  return std::ldexp(1.0, -kFormats[static_cast<size_t>(arithmetic)].digits);
}

double rounding_unit(c10::ScalarType dtype, std::optional<Arithmetic> arithmetic) {
  if (c10::isFloat8Type(dtype)) return 0x1p-3;
  if (dtype == c10::kHalf) return 0x1p-11;
  if (dtype == c10::kBFloat16) return 0x1p-8;
  if (arithmetic) return rounding_unit(*arithmetic);
  return c10::toRealValueType(dtype) == c10::kDouble ? 0x1p-53 : 0x1p-24;
}

at::Tensor round_to(Arithmetic arithmetic, const at::Tensor& tensor) {
  const c10::ScalarType dtype = tensor.scalar_type();
  if (dtype == c10::kComplexFloat || dtype == c10::kComplexDouble) {
    return at::view_as_complex(
        round_to(arithmetic, at::view_as_real(tensor.resolve_conj())).contiguous());
  }
  if (dtype != c10::kFloat && dtype != c10::kDouble) return tensor;
  if (arithmetic == Arithmetic::kTf32) return round_to_tf32(tensor);
  return tensor.to(arithmetic == Arithmetic::kFloat16 ? c10::kHalf : c10::kBFloat16).to(dtype);
}

ErrorComparison compare_errors(const at::Tensor& executor, const at::Tensor& yardstick,
                               const at::Tensor& float64) {
  const auto as_real = [](const at::Tensor& tensor) {
    const at::Tensor dense = strided(tensor.detach());
    return dense.is_complex() ? at::view_as_real(dense.resolve_conj()) : dense;
  };
  ErrorComparison errors;
  Sums executor_sums;
  Sums yardstick_sums;
  double value_square = 0;
  for_each_block({as_real(executor), as_real(yardstick), as_real(float64)},
                 [&](c10::ArrayRef<at::Tensor> blocks, int64_t /*first*/) {
                   const at::Tensor sides[] = {blocks[0].to(c10::kDouble),
                                               blocks[1].to(c10::kDouble),
                                               blocks[2].to(c10::kDouble)};
                   const auto* actual = sides[0].const_data_ptr<double>();
                   const auto* of_yardstick = sides[1].const_data_ptr<double>();
                   const auto* exact = sides[2].const_data_ptr<double>();
                   for (int64_t i = 0; i < sides[0].numel(); ++i) {
                     const bool is_finite = std::isfinite(of_yardstick[i]);
                     // Where only the yardstick overflows, nothing is expected.
                     if (is_finite != std::isfinite(exact[i])) continue;
                     if (!is_finite || !std::isfinite(actual[i])) {
                       errors.num_non_finite += is_finite || !is_as_infinite(actual[i], exact[i]);
                       continue;
                     }
                     ++errors.num_compared;
                     value_square += exact[i] * exact[i];
                     errors.value_max = std::max(errors.value_max, std::abs(exact[i]));
                     executor_sums.add(actual[i] - exact[i], exact[i]);
                     yardstick_sums.add(of_yardstick[i] - exact[i], exact[i]);
                   }
                   return true;
                 });
  const auto count = static_cast<double>(errors.num_compared);
  if (count > 0) errors.value_rms = std::sqrt(value_square / count);
  errors.executor = executor_sums.figures(count, value_square);
  errors.yardstick = yardstick_sums.figures(count, value_square);
  return errors;
}

double snr_of(double value_rms, double error_rms) {
  if (error_rms == 0) return std::numeric_limits<double>::infinity();
  return 20 * std::log10(value_rms / error_rms);
}

ArithmeticVerdict judge_accumulated(const ErrorComparison& errors, double unit,
                                    double error_factor) {
  constexpr int64_t kFew = 64;
  const double limit = error_factor * (errors.num_compared < kFew ? 1.25 : 1);
  return judge_by(errors, unit,
                  {.typical_rms = 1, .typical_max = 1, .rms_ratio = limit, .max_ratio = 2 * limit},
                  "times the yardstick's", /*step=*/0);
}

ArithmeticVerdict judge_own(const ErrorComparison& errors, double unit, double error_factor,
                            double step, bool adds_in_unit) {
  const double limit = (adds_in_unit ? 4 : 0.75) * error_factor;
  return judge_by(errors, unit,
                  {.typical_rms = 0.4,
                   .typical_max = 0.5,
                   .rms_ratio = limit,
                   .max_ratio = 2 * limit,
                   .slope = adds_in_unit ? limit : 0.75,
                   .mean = adds_in_unit ? limit : 1},
                  "roundings", step);
}

}  // namespace torch_ir
