#include "torch_ir/verifier/compare.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstring>
#include <ostream>
#include <type_traits>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/verifier/tensor_blocks.h"

namespace torch_ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double allowed_difference(const Tolerance& tolerance, double expected) {
  return tolerance.atol + tolerance.rtol * expected;
}

// The smallest t with difference <= t + t * expected, as allowed_difference rounds it.
double smallest_tolerance(double difference, double expected) {
  double t = difference / (1 + expected);
  while (allowed_difference({t, t}, expected) < difference) t = std::nextafter(t, kInfinity);
  return t;
}

using Complex = std::complex<double>;

template <class T>
bool is_nan(const T& value) {
  if constexpr (std::is_same_v<T, Complex>) return is_nan(value.real()) || is_nan(value.imag());
  if constexpr (std::is_same_v<T, double>) return std::isnan(value);
  return false;
}

template <class T>
bool is_finite(const T& value) {
  return value - value == T(0);
}

template <class T>
double magnitude(const T& value) {
  if constexpr (std::is_same_v<T, Complex>) {
    return std::abs(value);
  } else {
    return std::abs(static_cast<double>(value));
  }
}

template <class T>
double distance(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    // Unsigned arithmetic cannot overflow for a difference of 64-bit numbers.
    const auto x = static_cast<uint64_t>(a);
    const auto y = static_cast<uint64_t>(b);
    return static_cast<double>(a > b ? x - y : y - x);
  } else {
    const double modulus = std::abs(a - b);
    // For unequal infinities; NaN would mean that a side is NaN.
    return std::isnan(modulus) && !is_nan(a) && !is_nan(b) ? kInfinity : modulus;
  }
}

template <class T>
double product(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Complex>) {
    return a.real() * b.real() + a.imag() * b.imag();
  } else {
    return static_cast<double>(a) * static_cast<double>(b);
  }
}

// Writes half precision as the float it is, and NaN without its meaningless sign.
std::string value_text(double value, c10::ScalarType type) {
  if (std::isnan(value)) return "nan";
  return type == c10::kDouble ? fmt::format("{}", value)
                              : fmt::format("{}", static_cast<float>(value));
}
std::string value_text(const Complex& value, c10::ScalarType type) {
  const c10::ScalarType part = c10::toRealValueType(type);
  const std::string imaginary = value_text(value.imag(), part);
  return fmt::format("{}{}{}j", value_text(value.real(), part),
                     imaginary.starts_with('-') ? "" : "+", imaginary);
}
std::string value_text(std::integral auto value, c10::ScalarType type) {
  if (type == c10::kBool) return value != 0 ? "True" : "False";
  return fmt::format("{}", value);
}

// Maps the floats of a block to integers in the same order: neighbours are 1 apart.
class FloatOrder {
 public:
  explicit FloatOrder(const at::Tensor& block)
      : data_(block.const_data_ptr()), size_(block.itemsize()) {
    const c10::ScalarType dtype = block.scalar_type();
    const bool has_sign = c10::isFloatingType(dtype) && dtype != c10::ScalarType::Float8_e8m0fnu;
    if (has_sign) sign_bit_ = uint64_t{1} << (8 * size_ - 1);
  }

  int64_t operator[](int64_t index) const {
    const uint64_t bits = size_ == 4   ? read<uint32_t>(index)
                          : size_ == 2 ? read<uint16_t>(index)
                          : size_ == 1 ? read<uint8_t>(index)
                                       : read<uint64_t>(index);
    const auto place = static_cast<int64_t>(bits & ~sign_bit_);
    return (bits & sign_bit_) != 0 ? -place : place;
  }

 private:
  template <class Bits>
  Bits read(int64_t index) const {
    return static_cast<const Bits*>(data_)[index];
  }

  const void* data_;
  size_t size_;
  // 0 for floats without a sign.
  uint64_t sign_bit_ = 0;
};

// Sums of products, over elements that are finite on both sides.
struct Products {
  double actual = 0;
  double expected = 0;
  double mixed = 0;
};

struct Difference {
  // Receives the metrics that need no finishing: maxima, counts, values of the worst element.
  TensorComparison& result;
  // Sums of |actual - expected| and its square.
  double sum = 0;
  double sum_of_squares = 0;
  Products products = {};
  uint64_t max_ulp_diff = 0;
  int64_t num_nan = 0;
  // Elements that differ and are not finite on both sides.
  int64_t num_non_finite = 0;
  // Position of the worst element; negative while all are equal.
  int64_t worst = -1;
  // 2 for NaN, 1 for infinite differences, 0 for others; then the excess over the tolerance.
  int worst_rank = 0;
  double worst_excess = 0;
};

void raise(double& max, double value) {
  if (!(value <= max) && !std::isnan(max)) max = value;
}

constexpr std::array<double, kHistogramBins - 2> kBinLimits = {
    1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3};

// The bin of two unequal elements that differ by `difference`. NaN goes into the last one.
size_t histogram_bin(double difference) {
  const auto limit = std::ranges::upper_bound(kBinLimits, difference);
  return 1 + static_cast<size_t>(limit - kBinLimits.begin());
}

void add_products(const Products& products, Products& sum) {
  sum.actual += products.actual;
  sum.expected += products.expected;
  sum.mixed += products.mixed;
}

template <class T>
Products multiply(const T* actual, const T* expected, int64_t size) {
  const auto products = [&](int64_t i) {
    return Products{product(actual[i], actual[i]), product(expected[i], expected[i]),
                    product(actual[i], expected[i])};
  };
  // Several sums, since in one each addition would wait for the previous one.
  std::array<Products, 4> sums;
  int64_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (int64_t lane = 0; lane < 4; ++lane) {
      add_products(products(i + lane), sums[static_cast<size_t>(lane)]);
    }
  }
  for (; i < size; ++i) add_products(products(i), sums[0]);
  Products total;
  for (const Products& sum : sums) add_products(sum, total);
  if (std::isfinite(total.actual) && std::isfinite(total.expected)) return total;
  total = {};
  for (i = 0; i < size; ++i) {
    if (is_finite(actual[i]) && is_finite(expected[i])) add_products(products(i), total);
  }
  return total;
}

// Adds two unequal elements at `index` that differ by `difference`; `size` is the expected
// magnitude.
void add_difference(double difference, double size, const Tolerance& tolerance, int64_t index,
                    Difference& all) {
  const double excess = difference - allowed_difference(tolerance, size);
  const bool is_finite_difference = std::isfinite(difference);
  if (!is_finite_difference || excess > 0) ++all.result.num_mismatched;
  raise(all.result.max_diff, difference);
  if (size != 0 && std::isfinite(size)) raise(all.result.max_relative_diff, difference / size);
  double& required = all.result.smallest_passing_tolerance;
  if (!is_finite_difference) {
    required = kInfinity;
  } else if (difference > allowed_difference({required, required}, size)) {
    required = smallest_tolerance(difference, size);
  }
  all.sum += difference;
  all.sum_of_squares += difference * difference;
  ++all.result.histogram[histogram_bin(difference)];
  if (std::isnan(difference)) ++all.num_nan;
  // NaN is worst, then infinity, then the greatest excess over the tolerance.
  const int rank = is_finite_difference ? 0 : std::isnan(difference) ? 2 : 1;
  const bool is_worse =
      rank != all.worst_rank ? rank > all.worst_rank : rank == 0 && excess > all.worst_excess;
  if (all.worst >= 0 && !is_worse) return;
  all.worst = index;
  all.worst_rank = rank;
  all.worst_excess = excess;
}

// Adds two blocks of one dtype that start at position `first`, compared as T, which is `type`.
template <class T>
void add_block(const at::Tensor& actual_block, const at::Tensor& expected_block,
               c10::ScalarType type, const Tolerance& tolerance, int64_t first, Difference& all) {
  const at::Tensor wide_actual = actual_block.to(type);
  const at::Tensor wide_expected = expected_block.to(type);
  const auto* actual = static_cast<const T*>(wide_actual.const_data_ptr());
  const auto* expected = static_cast<const T*>(wide_expected.const_data_ptr());
  const FloatOrder actual_order(actual_block);
  const FloatOrder expected_order(expected_block);
  const int64_t size = actual_block.numel();
  int64_t num_equal = 0;
  for (int64_t i = 0; i < size; ++i) {
    const T a = actual[i];
    const T e = expected[i];
    if (a == e || (is_nan(a) && is_nan(e))) {
      ++num_equal;
      continue;
    }
    const double difference = distance(a, e);
    add_difference(difference, magnitude(e), tolerance, first + i, all);
    if (!is_finite(a) || !is_finite(e)) {
      ++all.num_non_finite;
    } else if constexpr (std::is_same_v<T, double>) {
      // The distance between ordered integers is exact and fits into 64 unsigned bits.
      const int64_t x = actual_order[i];
      const int64_t y = expected_order[i];
      const uint64_t steps =
          static_cast<uint64_t>(std::max(x, y)) - static_cast<uint64_t>(std::min(x, y));
      all.max_ulp_diff = std::max(all.max_ulp_diff, steps);
    }
  }
  if (all.worst >= first) {
    const c10::ScalarType dtype = actual_block.scalar_type();
    all.result.worst_actual = value_text(actual[all.worst - first], dtype);
    all.result.worst_expected = value_text(expected[all.worst - first], dtype);
  }
  all.result.histogram[0] += num_equal;
  add_products(multiply(actual, expected, size), all.products);
}

Difference measure(const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance,
                   TensorComparison& result) {
  Difference all{.result = result};
  const auto have_equal_bits = [](c10::ArrayRef<at::Tensor> blocks, int64_t /*first*/) {
    const at::Tensor& a = blocks[0];
    return std::memcmp(a.const_data_ptr(), blocks[1].const_data_ptr(), a.nbytes()) == 0;
  };
  if (for_each_block({actual, expected}, have_equal_bits)) {
    result.histogram[0] = actual.numel();
    return all;
  }
  const c10::ScalarType dtype = actual.scalar_type();
  for_each_block({actual, expected}, [&](c10::ArrayRef<at::Tensor> blocks, int64_t first) {
    const at::Tensor& a = blocks[0];
    const at::Tensor& e = blocks[1];
    if (c10::isComplexType(dtype)) {
      add_block<Complex>(a, e, c10::kComplexDouble, tolerance, first, all);
    } else if (c10::isFloatingType(dtype)) {
      add_block<double>(a, e, c10::kDouble, tolerance, first, all);
    } else if (dtype == c10::ScalarType::UInt64) {
      add_block<uint64_t>(a, e, dtype, tolerance, first, all);
    } else {
      add_block<int64_t>(a, e, c10::kLong, tolerance, first, all);
    }
    return true;
  });
  return all;
}

std::string find_mismatch(const at::Tensor& actual, const at::Tensor& expected) {
  if (!actual.defined() || !expected.defined()) {
    return actual.defined() ? "a tensor, expected None" : "None, expected a tensor";
  }
  if (actual.sizes() != expected.sizes()) {
    return fmt::format("shape {}, expected {}", shape_list_text(actual.sizes()),
                       shape_list_text(expected.sizes()));
  }
  if (actual.scalar_type() != expected.scalar_type()) {
    return fmt::format("dtype {}, expected {}", dtype_name(actual.scalar_type()),
                       dtype_name(expected.scalar_type()));
  }
  if (actual.is_meta() || expected.is_meta()) return "a meta tensor, which has no values";
  return {};
}

// NaN with a sign would be printed as "-nan".
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

void finish(const Difference& difference, const at::Tensor& expected, const Tolerance& tolerance) {
  TensorComparison& result = difference.result;
  const auto mean = [&](double sum) {
    return result.num_elements == 0 ? 0 : sum / static_cast<double>(result.num_elements);
  };
  result.is_close = result.num_mismatched == 0;
  result.max_diff = plain_nan(result.max_diff);
  result.mean_diff = plain_nan(mean(difference.sum));
  result.max_relative_diff = plain_nan(result.max_relative_diff);
  result.root_mean_square_diff = plain_nan(std::sqrt(mean(difference.sum_of_squares)));
  result.cosine_similarity = cosine_similarity(difference);
  result.signal_to_noise = signal_to_noise(difference);
  if (expected.is_floating_point() && difference.num_non_finite == 0) {
    result.max_ulp_diff = difference.max_ulp_diff;
  }
  if (difference.num_nan > 0) result.num_nan = difference.num_nan;
  // A tolerance for all outputs does not apply to integers.
  const bool must_be_equal =
      compares_exactly(expected.scalar_type()) && tolerance == kExactTolerance;
  if (must_be_equal && !result.is_close) result.smallest_passing_tolerance = kInfinity;
  if (difference.worst >= 0) result.worst_index = index_of(difference.worst, result.shape);
}

// A percentage that is never rounded to 0 or 100.
std::string percent_text(int64_t part, int64_t whole) {
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.01) return "<0.01 %";
  if (part < whole && percent > 99.9) return ">99.9 %";
  return fmt::format("{:.3g} %", percent);
}

}  // namespace

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
  finish(measure(strided(actual), plain, tolerance, result), plain, tolerance);
  return result;
}

std::string histogram_bin_name(size_t bin) {
  if (bin == 0) return "equal";
  const int exponent = static_cast<int>(bin) - 13;
  return bin + 1 < kHistogramBins ? fmt::format("< 1e{}", exponent)
                                  : fmt::format(">= 1e{}", exponent - 1);
}

std::string comparison_text(const TensorComparison& comparison) {
  if (!comparison.mismatch.empty()) return comparison.mismatch;
  if (comparison.is_close && comparison.worst_actual.empty()) return "equal";
  const double smallest = comparison.smallest_passing_tolerance;
  const std::string tolerance = std::isfinite(smallest)
                                    ? "smallest passing tolerance " + tolerance_text(smallest)
                                    : "no tolerance passes";
  const std::string differences = fmt::format("max abs. error {:.4g}, mean abs. error {:.4g}",
                                              comparison.max_diff, comparison.mean_diff);
  if (comparison.is_close) return fmt::format("close: {}, {}", differences, tolerance);
  const std::string ulps =
      comparison.max_ulp_diff ? fmt::format(", max {} ULP", *comparison.max_ulp_diff) : "";
  return fmt::format(
      "{} of {} elements mismatched ({}): {}, max relative error {:.4g}{}; worst at [{}]: {}, "
      "expected {}; {}",
      comparison.num_mismatched, comparison.num_elements,
      percent_text(comparison.num_mismatched, comparison.num_elements), differences,
      comparison.max_relative_diff, ulps, fmt::join(comparison.worst_index, ", "),
      comparison.worst_actual, comparison.worst_expected, tolerance);
}

std::ostream& operator<<(std::ostream& stream, const TensorComparison& comparison) {
  return stream << comparison_text(comparison);
}

}  // namespace torch_ir
