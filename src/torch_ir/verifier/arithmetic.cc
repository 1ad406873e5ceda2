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

// Of an element; the figures are sums until finish_figures().
void add_error(double error, double value, ErrorFigures& sums) {
  sums.rms += error * error;
  sums.max = std::max(sums.max, std::abs(error));
  sums.mean += error;
  sums.slope += error * value;
}

void finish_figures(double count, double value_square, ErrorFigures& sums) {
  sums.rms = std::sqrt(sums.rms / count);
  sums.mean /= count;
  sums.slope = value_square == 0 ? 0 : sums.slope / value_square;
}

double ratio_of(double error, double unit) {
  if (error == 0) return 0;
  return unit == 0 ? std::numeric_limits<double>::infinity() : error / unit;
}

// What is accepted, in units of a rounding or of the eager lane's error.
struct ErrorLimits {
  // The errors that a right value may have though the eager lane has none.
  double typical_rms;
  double typical_max;
  double ratio;
  // Of the systematic part.
  double slope;
  double mean;
  std::string_view unit_name;
};

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr ErrorLimits kOfOutputs = {1, 1, kErrorFactor, kNoLimit, kNoLimit, "times eager's"};
// float32 and float64, and the arithmetics that round less often than they add.
constexpr ErrorLimits kOfWideValues = {0.4, 0.5, 16, 16, 16, "roundings"};
constexpr ErrorLimits kOfNarrowValues = {0.4, 0.5, 3, 0.75, 1, "roundings"};

const ErrorLimits& limits_of(const ErrorKind& kind) {
  if (kind.is_accumulated) return kOfOutputs;
  return kind.adds_in_unit ? kOfWideValues : kOfNarrowValues;
}

// What is accepted in n elements, relative to many. Sums of few may be exact by chance, in the
// eager lane; and the RMS of a rounding differs from the typical one by chance, as 1 / sqrt(n).
double allowance(const ErrorKind& kind, int64_t num_elements) {
  constexpr int64_t kFew = 64;
  if (!kind.is_accumulated) {
    return 1 + 2 / std::sqrt(static_cast<double>(std::max(kFew, num_elements)));
  }
  if (num_elements >= kFew) return 1;
  return kind.adds_in_unit ? 4 : 1.25;
}

constexpr double kLeastDeviations = 6;

// `excess` beyond `limit` that chance does not explain; otherwise 0.
double systematic(double excess, double deviation) {
  return std::abs(excess) >= kLeastDeviations * deviation ? excess : 0;
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

ErrorComparison compare_errors(const at::Tensor& actual, const at::Tensor& eager,
                               const at::Tensor& exact) {
  const auto as_real = [](const at::Tensor& tensor) {
    const at::Tensor dense = strided(tensor.detach());
    return dense.is_complex() ? at::view_as_real(dense.resolve_conj()) : dense;
  };
  ErrorComparison errors;
  double value_square = 0;
  const auto add_blocks = [&](c10::ArrayRef<at::Tensor> blocks, int64_t /*first*/) {
    const at::Tensor sides[] = {blocks[0].to(c10::kDouble), blocks[1].to(c10::kDouble),
                                blocks[2].to(c10::kDouble)};
    const auto* is = sides[0].const_data_ptr<double>();
    const auto* of_eager = sides[1].const_data_ptr<double>();
    const auto* should_be = sides[2].const_data_ptr<double>();
    for (int64_t i = 0; i < sides[0].numel(); ++i) {
      const bool is_finite = std::isfinite(of_eager[i]);
      // Where only the eager lane overflows, nothing is expected.
      if (is_finite != std::isfinite(should_be[i])) continue;
      if (!is_finite || !std::isfinite(is[i])) {
        errors.num_non_finite += is_finite || !is_as_infinite(is[i], should_be[i]);
        continue;
      }
      ++errors.num_compared;
      value_square += should_be[i] * should_be[i];
      errors.value_max = std::max(errors.value_max, std::abs(should_be[i]));
      add_error(is[i] - should_be[i], should_be[i], errors.run);
      add_error(of_eager[i] - should_be[i], should_be[i], errors.eager);
    }
    return true;
  };
  for_each_block({as_real(actual), as_real(eager), as_real(exact)}, add_blocks);
  if (errors.num_compared == 0) return errors;
  const auto count = static_cast<double>(errors.num_compared);
  errors.value_rms = std::sqrt(value_square / count);
  finish_figures(count, value_square, errors.run);
  finish_figures(count, value_square, errors.eager);
  return errors;
}

double snr_of(double value_rms, double error_rms) {
  if (error_rms == 0) return std::numeric_limits<double>::infinity();
  return 20 * std::log10(value_rms / error_rms);
}

std::string systematic_text(const OwnError& error) {
  if (error.slope != 0 && std::abs(error.slope) >= std::abs(error.mean)) {
    return fmt::format("{:.2g} % too {}", 100 * std::abs(error.slope),
                       error.slope > 0 ? "large" : "small");
  }
  if (error.mean == 0) return "";
  return fmt::format("shifted by {:.2g} % of their RMS", 100 * error.mean);
}

OwnError judge_error(const ErrorComparison& errors, const ErrorKind& kind) {
  const ErrorLimits& limits = limits_of(kind);
  const double factor = allowance(kind, errors.num_compared);
  const double limit = limits.ratio * factor;
  const auto root = std::sqrt(static_cast<double>(std::max<int64_t>(1, errors.num_compared)));
  const ErrorFigures& own = errors.run;
  const ErrorFigures& eager = errors.eager;
  // The RMS of a uniform error is its greatest value / sqrt(3).
  const double rms_unit =
      std::hypot(std::max(eager.rms, limits.typical_rms * kind.unit * errors.value_rms),
                 kind.step / std::sqrt(12.));
  const double max_unit =
      std::max(eager.max, limits.typical_max * kind.unit * errors.value_max) + kind.step / 2;
  OwnError error{.rms_ratio = ratio_of(own.rms, rms_unit),
                 .max_ratio = ratio_of(own.max, max_unit),
                 .signal_to_noise = snr_of(errors.value_rms, own.rms)};
  if (errors.value_rms > 0) {
    const double deviation = own.rms / (errors.value_rms * root);
    error.slope = systematic(own.slope - eager.slope, deviation);
    error.mean = systematic((own.mean - eager.mean) / errors.value_rms, deviation);
  }
  const bool has_signal =
      snr_of(errors.value_rms, eager.rms) >= kLeastSignalToNoise && kind.step == 0;
  const double unit = kind.unit * factor;
  if (errors.num_non_finite > 0) {
    error.problem = fmt::format("mismatched NaN or infinite elements: {}", errors.num_non_finite);
  } else if (error.rms_ratio > limit) {
    error.problem = fmt::format("an RMS error of {:.3g} {}; the limit is {:.3g}", error.rms_ratio,
                                limits.unit_name, limit);
  } else if (error.max_ratio > 2 * limit) {
    error.problem = fmt::format("a max. error of {:.3g} {}; the limit is {:.3g}", error.max_ratio,
                                limits.unit_name, 2 * limit);
  } else if (has_signal && error.signal_to_noise < kLeastSignalToNoise) {
    error.problem = fmt::format("an SNR of {:.3g} dB; the limit is {} dB", error.signal_to_noise,
                                kLeastSignalToNoise);
  } else if (kind.step == 0 && (std::abs(error.slope) > limits.slope * unit ||
                                std::abs(error.mean) > limits.mean * unit)) {
    error.problem = "a systematic error";
  }
  const std::string text = systematic_text(error);
  if (!error.problem.empty() && !text.empty()) error.problem += "; its values are " + text;
  return error;
}

std::string unexplained_elements(const at::Tensor& actual, const at::Tensor& eager,
                                 const at::Tensor& exact, const ErrorKind& kind,
                                 const Tolerance& tolerance) {
  if (actual.is_complex() || exact.numel() == 0) return "";
  const auto numbers = [](const at::Tensor& tensor) {
    return strided(tensor.detach()).to(c10::kDouble).contiguous();
  };
  const at::Tensor tensors[] = {numbers(actual), numbers(eager), numbers(exact)};
  const auto* is = tensors[0].const_data_ptr<double>();
  const auto* of_eager = tensors[1].const_data_ptr<double>();
  const auto* should_be = tensors[2].const_data_ptr<double>();
  const int64_t count = exact.numel();
  // By binary exponent, from that of 0 on: the number of elements, their greatest eager error, and
  // the greatest of them.
  constexpr int kLeast = -1075;
  constexpr int kNumSizes = 1024 - kLeast + 1;
  std::vector<int64_t> numbers_of(kNumSizes);
  std::vector<double> errors_of(kNumSizes);
  std::vector<double> greatest_of(kNumSizes);
  const auto size_of = [](double value) {
    return value == 0 ? 0 : static_cast<size_t>(std::max(std::ilogb(value), kLeast + 1) - kLeast);
  };
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(of_eager[i]) || !std::isfinite(should_be[i])) continue;
    const size_t size = size_of(should_be[i]);
    ++numbers_of[size];
    errors_of[size] = std::max(errors_of[size], std::abs(of_eager[i] - should_be[i]));
    greatest_of[size] = std::max(greatest_of[size], std::abs(should_be[i]));
  }
  // Elements smaller than the lower quarter may have cancelled to what they are.
  constexpr int64_t kEnough = 8;
  const int64_t num_nonzero = count - numbers_of[0];
  size_t quarter = 0;
  // If less than a quarter are finite, all elements share the limit of the largest.
  for (int64_t passed = 0;
       num_nonzero >= kEnough && 4 * passed < num_nonzero && quarter + 1 < numbers_of.size();) {
    passed += numbers_of[++quarter];
  }
  for (size_t i = 1; i < numbers_of.size(); ++i) {
    errors_of[i] = std::max(errors_of[i], errors_of[i - 1]);
    greatest_of[i] = std::max(greatest_of[i], greatest_of[i - 1]);
  }
  constexpr size_t kAlike = 12;
  const ErrorLimits& limits = limits_of(kind);
  const double limit = 2 * limits.ratio * allowance(kind, count);
  int64_t num_unexplained = 0;
  std::string first;
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(is[i]) || !std::isfinite(of_eager[i]) || !std::isfinite(should_be[i])) {
      continue;
    }
    if (std::abs(is[i] - of_eager[i]) <= tolerance.atol + tolerance.rtol * std::abs(of_eager[i])) {
      continue;
    }
    const size_t size = size_of(should_be[i]);
    const size_t alike = size == 0 && quarter == 0
                             ? 0
                             : std::min(std::max(size, quarter) + kAlike, kNumSizes - size_t{1});
    const double most =
        std::max(errors_of[alike], limits.typical_max * kind.unit * greatest_of[alike]);
    if (std::abs(is[i] - should_be[i]) <= limit * most + kind.step) continue;
    if (num_unexplained++ > 0) continue;
    first = fmt::format("element {} is {:.6g}, expected {:.6g}", i, is[i], of_eager[i]);
  }
  if (num_unexplained == 0) return "";
  return fmt::format("{} of {} elements are further from float64 than eager's of their size: {}",
                     num_unexplained, count, first);
}

}  // namespace torch_ir
