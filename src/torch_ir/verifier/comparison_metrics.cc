#include "torch_ir/verifier/comparison_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>

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

// Of integers, which are always finite; overloads follow for the others.
template <class T>
bool is_nan(T) {
  return false;
}
bool is_nan(double value) { return std::isnan(value); }
bool is_nan(const std::complex<double>& value) {
  return std::isnan(value.real()) || std::isnan(value.imag());
}

template <class T>
bool is_finite(T) {
  return true;
}
bool is_finite(double value) { return std::isfinite(value); }
bool is_finite(const std::complex<double>& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

template <class T>
double magnitude(T value) {
  return std::abs(static_cast<double>(value));
}
double magnitude(const std::complex<double>& value) { return std::abs(value); }

double distance(double a, double b) { return std::abs(a - b); }
double distance(const std::complex<double>& a, const std::complex<double>& b) {
  const double modulus = std::abs(a - b);
  // Two infinities that are not equal; NaN would mean that a side is NaN.
  return std::isnan(modulus) && !is_nan(a) && !is_nan(b) ? kInfinity : modulus;
}
// In unsigned arithmetic, where no difference of two 64-bit numbers overflows.
double distance(uint64_t a, uint64_t b) { return static_cast<double>(a > b ? a - b : b - a); }
double distance(int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  return static_cast<double>(a > b ? x - y : y - x);
}

template <class T>
double product(T a, T b) {
  return static_cast<double>(a) * static_cast<double>(b);
}
double product(const std::complex<double>& a, const std::complex<double>& b) {
  return a.real() * b.real() + a.imag() * b.imag();
}

// The bits of a float whose first bit is its sign.
template <class Bits>
struct Signed {
  Bits bits;
};
// The bits of a float that has no sign.
struct Unsigned {
  uint8_t bits;
};
// For elements that are no floats.
struct NoBits {};

// Floats as integers in the same order, without branches: signs are hard to predict.
template <class Bits>
int64_t order_of(Signed<Bits> a) {
  constexpr int kSignBit = 8 * sizeof(Bits) - 1;
  const auto sign = static_cast<int64_t>(a.bits >> kSignBit);
  const auto size = static_cast<int64_t>(a.bits & ~(Bits{1} << kSignBit));
  return (size ^ -sign) + sign;
}
int64_t order_of(Unsigned a) { return a.bits; }

// How many representable numbers apart; both finite.
template <class Bits>
uint64_t ulp_distance(Bits a, Bits b) {
  const int64_t x = order_of(a);
  const int64_t y = order_of(b);
  // Unsigned, where the difference of two 64-bit numbers does not overflow.
  const uint64_t difference = static_cast<uint64_t>(x) - static_cast<uint64_t>(y);
  const uint64_t negate = x < y ? ~uint64_t{0} : 0;
  return (difference ^ negate) - negate;
}

// NaN without a sign, which means nothing: it would be written "-nan".
double plain_nan(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

// How a number of dtype `type` is written; half precision as the float it is.
std::string value_text(double value, c10::ScalarType type) {
  value = plain_nan(value);
  return type == c10::kDouble ? fmt::format("{}", value)
                              : fmt::format("{}", static_cast<float>(value));
}
std::string value_text(const std::complex<double>& value, c10::ScalarType type) {
  const c10::ScalarType part = c10::toRealValueType(type);
  const std::string imaginary = value_text(value.imag(), part);
  return fmt::format("{}{}{}j", value_text(value.real(), part),
                     imaginary.starts_with('-') ? "" : "+", imaginary);
}
std::string value_text(int64_t value, c10::ScalarType type) {
  if (type == c10::kBool) return value != 0 ? "True" : "False";
  return fmt::format("{}", value);
}
std::string value_text(uint64_t value, c10::ScalarType) { return fmt::format("{}", value); }

// Sets `max` to `value` where that is greater; NaN is the greatest.
void raise(double& max, double value) {
  if (!(value <= max) && !std::isnan(max)) max = value;
}

// Where one bin of TensorComparison::histogram ends and the next begins.
constexpr std::array<double, kHistogramBins - 2> kBinLimits = {
    1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3};

// The bin of two elements that are not equal and differ by `difference`. NaN, below no limit, is in
// the last one.
size_t histogram_bin(double difference) {
  const auto limit = std::ranges::upper_bound(kBinLimits, difference);
  return 1 + static_cast<size_t>(limit - kBinLimits.begin());
}

template <class T>
const T* data_as(const at::Tensor& tensor) {
  return static_cast<const T*>(tensor.const_data_ptr());
}

std::vector<int64_t> index_of(int64_t position, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

// Sums of products, over elements that are finite on both sides.
struct Products {
  double actual = 0;
  double expected = 0;
  double mixed = 0;

  void add(const Products& other) {
    actual += other.actual;
    expected += other.expected;
    mixed += other.mixed;
  }
};

template <class T>
Products multiply(const T* actual, const T* expected, int64_t size) {
  const auto products = [&](int64_t i) {
    return Products{product(actual[i], actual[i]), product(expected[i], expected[i]),
                    product(actual[i], expected[i])};
  };
  // In several sums: in one, each addition would wait for the one before it.
  std::array<Products, 4> sums;
  int64_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (int64_t lane = 0; lane < 4; ++lane) {
      sums[static_cast<size_t>(lane)].add(products(i + lane));
    }
  }
  for (; i < size; ++i) sums[0].add(products(i));
  Products total;
  for (const Products& sum : sums) total.add(sum);
  if (std::isfinite(total.actual) && std::isfinite(total.expected)) return total;
  total = {};
  for (i = 0; i < size; ++i) {
    if (is_finite(actual[i]) && is_finite(expected[i])) total.add(products(i));
  }
  return total;
}

// What is updated by each element that is not equal.
struct Extremes {
  double max_diff = 0;
  double max_relative_diff = 0;
  double required_tolerance = 0;
  uint64_t max_ulp_diff = 0;
  // Whether elements differ that are not finite on both sides.
  bool differs_in_non_finite = false;
  int64_t num_mismatched = 0;
  // Position of the worst element; negative while all were equal.
  int64_t worst = -1;
  // 2 for NaN, 1 for infinite differences, 0 for others.
  int worst_rank = 0;
  double worst_excess = 0;

  // Adds two elements at `index` that are not equal; `size` is that of the expected one.
  void add(double difference, double size, const Tolerance& tolerance, int64_t index) {
    const double excess = difference - allowed_difference(tolerance, size);
    const bool is_finite_difference = std::isfinite(difference);
    if (!is_finite_difference || excess > 0) ++num_mismatched;
    raise(max_diff, difference);
    if (size != 0 && std::isfinite(size)) raise(max_relative_diff, difference / size);
    if (!is_finite_difference) {
      required_tolerance = kInfinity;
    } else if (difference > allowed_difference({required_tolerance, required_tolerance}, size)) {
      required_tolerance = smallest_tolerance(difference, size);
    }
    // NaN is worst, then infinity, then what is furthest outside the tolerance.
    const int rank = is_finite_difference ? 0 : std::isnan(difference) ? 2 : 1;
    const bool is_worse =
        rank != worst_rank ? rank > worst_rank : rank == 0 && excess > worst_excess;
    if (worst >= 0 && !is_worse) return;
    worst = index;
    worst_rank = rank;
    worst_excess = excess;
  }
};

class ComparisonMetrics {
 public:
  // `dtype` is that of both tensors.
  ComparisonMetrics(const Tolerance& tolerance, c10::ScalarType dtype)
      : tolerance_(tolerance), dtype_(dtype) {}

  // Adds the elements from position `first` on.
  void add(const at::Tensor& actual, const at::Tensor& expected, int64_t first) {
    if (dtype_ == c10::ScalarType::UInt64) {
      add_plain<uint64_t>(actual, expected, first);
    } else if (c10::isComplexType(dtype_)) {
      add_plain<std::complex<double>>(actual.to(c10::kComplexDouble),
                                      expected.to(c10::kComplexDouble), first);
    } else if (!c10::isFloatingType(dtype_)) {
      add_plain<int64_t>(actual.to(c10::kLong), expected.to(c10::kLong), first);
    } else if (dtype_ == c10::ScalarType::Float8_e8m0fnu) {
      add_floats<Unsigned>(actual, expected, first);
    } else if (actual.itemsize() == 1) {
      add_floats<Signed<uint8_t>>(actual, expected, first);
    } else if (actual.itemsize() == 2) {
      add_floats<Signed<uint16_t>>(actual, expected, first);
    } else if (actual.itemsize() == 4) {
      add_floats<Signed<uint32_t>>(actual, expected, first);
    } else {
      add_floats<Signed<uint64_t>>(actual, expected, first);
    }
  }

  // Sets the metrics of `result`, whose shape is that of the tensors.
  void finish(TensorComparison& result) const {
    const auto mean = [&](double sum) {
      return result.num_elements == 0 ? 0 : sum / static_cast<double>(result.num_elements);
    };
    result.is_close = extremes_.num_mismatched == 0;
    result.max_diff = plain_nan(extremes_.max_diff);
    result.mean_diff = plain_nan(mean(sum_));
    result.max_relative_diff = plain_nan(extremes_.max_relative_diff);
    result.root_mean_square_diff = plain_nan(std::sqrt(mean(sum_of_squares_)));
    result.cosine_similarity = cosine_similarity();
    result.signal_to_noise = signal_to_noise();
    if (c10::isFloatingType(dtype_) && !extremes_.differs_in_non_finite) {
      result.max_ulp_diff = extremes_.max_ulp_diff;
    }
    result.histogram = histogram_;
    if (num_nan_ > 0) result.num_nan = num_nan_;
    result.num_mismatched = extremes_.num_mismatched;
    // What is given for all outputs is not for integers.
    const bool must_be_equal = compares_exactly(dtype_) && tolerance_ == kExactTolerance;
    result.smallest_passing_tolerance =
        must_be_equal && !result.is_close ? kInfinity : extremes_.required_tolerance;
    if (extremes_.worst < 0) return;
    const auto text = [&](const auto& value) { return value_text(value, dtype_); };
    result.worst_index = index_of(extremes_.worst, result.shape);
    result.worst_actual = std::visit(text, worst_actual_);
    result.worst_expected = std::visit(text, worst_expected_);
  }

 private:
  using Element = std::variant<double, std::complex<double>, int64_t, uint64_t>;

  // `Bits` are the elements in their own dtype, where distances in them are asked for.
  template <class T, class Bits>
  void add_elements(const T* actual, const T* expected, const Bits* actual_bits,
                    const Bits* expected_bits, int64_t size, int64_t first) {
    // Local, so that nothing is written through memory for each element.
    Extremes extremes = extremes_;
    double sum = 0;
    double sum_of_squares = 0;
    int64_t num_equal = 0;
    for (int64_t i = 0; i < size; ++i) {
      const T a = actual[i];
      const T e = expected[i];
      if (a == e || (is_nan(a) && is_nan(e))) {
        ++num_equal;
        continue;
      }
      const double difference = distance(a, e);
      extremes.add(difference, magnitude(e), tolerance_, first + i);
      sum += difference;
      sum_of_squares += difference * difference;
      ++histogram_[histogram_bin(difference)];
      if (std::isnan(difference)) ++num_nan_;
      if (!is_finite(a) || !is_finite(e)) {
        extremes.differs_in_non_finite = true;
      } else if constexpr (!std::is_same_v<Bits, NoBits>) {
        extremes.max_ulp_diff =
            std::max(extremes.max_ulp_diff, ulp_distance(actual_bits[i], expected_bits[i]));
      }
    }
    if (extremes.worst != extremes_.worst) {
      worst_actual_ = actual[extremes.worst - first];
      worst_expected_ = expected[extremes.worst - first];
    }
    extremes_ = extremes;
    histogram_[0] += num_equal;
    sum_ += sum;
    sum_of_squares_ += sum_of_squares;
    products_.add(multiply(actual, expected, size));
  }

  // In the dtype that they are compared in.
  template <class T>
  void add_plain(const at::Tensor& actual, const at::Tensor& expected, int64_t first) {
    const NoBits* none = nullptr;
    add_elements(data_as<T>(actual), data_as<T>(expected), none, none, actual.numel(), first);
  }

  template <class Bits>
  void add_floats(const at::Tensor& actual, const at::Tensor& expected, int64_t first) {
    const at::Tensor a = actual.to(c10::kDouble);
    const at::Tensor e = expected.to(c10::kDouble);
    add_elements(data_as<double>(a), data_as<double>(e), data_as<Bits>(actual),
                 data_as<Bits>(expected), actual.numel(), first);
  }

  double cosine_similarity() const {
    if (extremes_.worst < 0) return 1;
    if (extremes_.differs_in_non_finite) return std::numeric_limits<double>::quiet_NaN();
    if (products_.actual == 0 && products_.expected == 0) return 1;
    if (products_.actual == 0 || products_.expected == 0) return 0;
    const double sizes = std::sqrt(products_.actual) * std::sqrt(products_.expected);
    return plain_nan(std::clamp(products_.mixed / sizes, -1.0, 1.0));
  }

  double signal_to_noise() const {
    if (extremes_.worst < 0) return kInfinity;
    if (extremes_.differs_in_non_finite) return -kInfinity;
    return plain_nan(10 * std::log10(products_.expected / sum_of_squares_));
  }

  const Tolerance tolerance_;
  const c10::ScalarType dtype_;
  double sum_ = 0;
  double sum_of_squares_ = 0;
  Products products_;
  std::array<int64_t, kHistogramBins> histogram_ = {};
  int64_t num_nan_ = 0;
  Extremes extremes_;
  Element worst_actual_;
  Element worst_expected_;
};

bool have_equal_bits(const at::Tensor& actual, const at::Tensor& expected) {
  return for_each_block({actual, expected}, [](c10::ArrayRef<at::Tensor> blocks, int64_t) {
    return std::memcmp(blocks[0].const_data_ptr(), blocks[1].const_data_ptr(),
                       blocks[0].nbytes()) == 0;
  });
}

}  // namespace

void measure_difference(const at::Tensor& actual, const at::Tensor& expected,
                        const Tolerance& tolerance, TensorComparison& result) {
  ComparisonMetrics metrics(tolerance, actual.scalar_type());
  const bool is_equal = have_equal_bits(actual, expected);
  if (!is_equal) {
    for_each_block({actual, expected}, [&](c10::ArrayRef<at::Tensor> blocks, int64_t first) {
      metrics.add(blocks[0], blocks[1], first);
      return true;
    });
  }
  metrics.finish(result);
  if (is_equal) result.histogram[0] = result.num_elements;
}

}  // namespace torch_ir
