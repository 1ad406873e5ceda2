#include "torch_ir/verifier/compare.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/verifier/comparison_metrics.h"
#include "torch_ir/verifier/tensor_blocks.h"

namespace torch_ir {
namespace {

std::string find_mismatch(const at::Tensor& actual, const at::Tensor& expected) {
  if (!actual.defined() || !expected.defined()) {
    return actual.defined() ? "a tensor, expected None" : "None, expected a tensor";
  }
  if (actual.sizes() != expected.sizes()) {
    return fmt::format("shape [{}], expected [{}]", fmt::join(actual.sizes().vec(), ", "),
                       fmt::join(expected.sizes().vec(), ", "));
  }
  if (actual.scalar_type() != expected.scalar_type()) {
    return fmt::format("dtype {}, expected {}", dtype_name(actual.scalar_type()),
                       dtype_name(expected.scalar_type()));
  }
  if (actual.is_meta() || expected.is_meta()) return "a meta tensor, which has no values";
  return {};
}

// NaN without a sign, which means nothing: it would be written "-nan".
double plain_nan(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

std::vector<int64_t> index_of(int64_t position, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

double cosine_similarity(const Difference& difference) {
  const Products& products = difference.products;
  if (difference.worst < 0) return 1;
  if (difference.num_non_finite > 0) return std::numeric_limits<double>::quiet_NaN();
  if (products.actual == 0 && products.expected == 0) return 1;
  if (products.actual == 0 || products.expected == 0) return 0;
  const double sizes = std::sqrt(products.actual) * std::sqrt(products.expected);
  return plain_nan(std::clamp(products.mixed / sizes, -1.0, 1.0));
}

double signal_to_noise(const Difference& difference) {
  if (difference.worst < 0) return kInfinity;
  if (difference.num_non_finite > 0) return -kInfinity;
  return plain_nan(10 * std::log10(difference.products.expected / difference.sum_of_squares));
}

// Sets the metrics of `result`, whose shape is known.
void set_metrics(const Difference& difference, const at::Tensor& expected,
                 const Tolerance& tolerance, TensorComparison& result) {
  const auto mean = [&](double sum) {
    return result.num_elements == 0 ? 0 : sum / static_cast<double>(result.num_elements);
  };
  result.is_close = difference.num_mismatched == 0;
  result.max_diff = plain_nan(difference.max_diff);
  result.mean_diff = plain_nan(mean(difference.sum));
  result.max_relative_diff = plain_nan(difference.max_relative_diff);
  result.root_mean_square_diff = plain_nan(std::sqrt(mean(difference.sum_of_squares)));
  result.cosine_similarity = cosine_similarity(difference);
  result.signal_to_noise = signal_to_noise(difference);
  if (expected.is_floating_point() && difference.num_non_finite == 0) {
    result.max_ulp_diff = difference.max_ulp_diff;
  }
  result.histogram = difference.histogram;
  if (difference.num_nan > 0) result.num_nan = difference.num_nan;
  result.num_mismatched = difference.num_mismatched;
  // What is given for all outputs is not for integers.
  const bool must_be_equal =
      compares_exactly(expected.scalar_type()) && tolerance == kExactTolerance;
  result.smallest_passing_tolerance =
      must_be_equal && !result.is_close ? kInfinity : difference.smallest_passing_tolerance;
  if (difference.worst < 0) return;
  result.worst_index = index_of(difference.worst, result.shape);
  result.worst_actual = difference.worst_actual;
  result.worst_expected = difference.worst_expected;
}

std::string comparison_differences_text(const TensorComparison& comparison) {
  return fmt::format("max diff {:.4g}, mean diff {:.4g}", comparison.max_diff,
                     comparison.mean_diff);
}

// The share of what differs, never rounded to none or all.
std::string percent_text(int64_t part, int64_t whole) {
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.01) return "<0.01 %";
  if (part < whole && percent > 99.9) return ">99.9 %";
  return fmt::format("{:.3g} %", percent);
}

// "max relative 0.2, max 4 ULP", as far as there are such figures.
std::string relative_text(const TensorComparison& comparison) {
  std::string text = fmt::format("max relative {:.4g}", comparison.max_relative_diff);
  if (comparison.max_ulp_diff) text += fmt::format(", max {} ULP", *comparison.max_ulp_diff);
  return text;
}

}  // namespace

TensorComparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected) {
  const auto dtype = expected.defined() ? expected.scalar_type() : c10::ScalarType::Float;
  return compare_tensors(actual, expected, tolerance_for({}, 0, dtype));
}

TensorComparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected,
                                 const Tolerance& tolerance) {
  TensorComparison result;
  if (!actual.defined() && !expected.defined()) {
    result.is_close = true;
    return result;
  }
  if (actual.defined()) {
    result.shape = actual.sizes().vec();
    result.dtype = dtype_name(actual.scalar_type());
    result.num_elements = actual.numel();
  }
  result.mismatch = find_mismatch(actual, expected);
  if (!result.mismatch.empty()) {
    result.smallest_passing_tolerance = kInfinity;
    return result;
  }
  const c10::InferenceMode inference_mode;
  const at::Tensor plain = strided(expected);
  set_metrics(measure_difference(strided(actual), plain, tolerance), plain, tolerance, result);
  return result;
}

std::string histogram_bin_name(size_t bin) {
  if (bin == 0) return "equal";
  const int exponent = static_cast<int>(bin) - 13;
  return bin + 1 < kHistogramBins ? fmt::format("< 1e{}", exponent)
                                  : fmt::format(">= 1e{}", exponent - 1);
}

std::ostream& operator<<(std::ostream& stream, const TensorComparison& comparison) {
  if (!comparison.mismatch.empty()) return stream << comparison.mismatch;
  const bool is_equal = comparison.is_close && comparison.worst_actual.empty();
  if (is_equal) return stream << "equal";
  if (comparison.is_close) {
    return stream << "close: " << comparison_differences_text(comparison)
                  << ", passes from tolerance "
                  << tolerance_text(comparison.smallest_passing_tolerance);
  }
  return stream << fmt::format(
             "{} of {} element(s) differ ({}): {}, {}; worst at [{}]: {}, expected {}; {}",
             comparison.num_mismatched, comparison.num_elements,
             percent_text(comparison.num_mismatched, comparison.num_elements),
             comparison_differences_text(comparison), relative_text(comparison),
             fmt::join(comparison.worst_index, ", "), comparison.worst_actual,
             comparison.worst_expected,
             std::isfinite(comparison.smallest_passing_tolerance)
                 ? "passes from tolerance " + tolerance_text(comparison.smallest_passing_tolerance)
                 : "no tolerance passes");
}

}  // namespace torch_ir
