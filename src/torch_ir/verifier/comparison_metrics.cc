#include "torch_ir/verifier/comparison_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "torch_ir/verifier/tensor_blocks.h"

namespace torch_ir {
namespace {

double allowed_difference(const Tolerance& tolerance, double expected) {
  return tolerance.atol + tolerance.rtol * expected;
}

// The smallest t with difference <= t + t * expected, as allowed_difference rounds it.
double smallest_tolerance(double difference, double expected) {
  double t = difference / (1 + expected);
  while (allowed_difference({t, t}, expected) < difference) t = std::nextafter(t, kInfinity);
  return t;
}

// --- Elements, in the type that they are compared in: double, complex, int64_t or uint64_t ---

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
    // In unsigned arithmetic, where no difference of two 64-bit numbers overflows.
    const auto x = static_cast<uint64_t>(a);
    const auto y = static_cast<uint64_t>(b);
    return static_cast<double>(a > b ? x - y : y - x);
  } else {
    const double modulus = std::abs(a - b);
    // Two infinities that are not equal; NaN would mean that a side is NaN.
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

// How an element of dtype `type` is written; half precision as the float it is, NaN without a sign,
// which means nothing.
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
std::string value_text(int64_t value, c10::ScalarType type) {
  if (type == c10::kBool) return value != 0 ? "True" : "False";
  return fmt::format("{}", value);
}
std::string value_text(uint64_t value, c10::ScalarType) { return fmt::format("{}", value); }

// --- Floats in units of the last place ---

// The elements of a block as integers in the same order: neighbours are 1 apart.
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
  // 0 for floats that have none.
  uint64_t sign_bit_ = 0;
};

// --- The pass ---

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
  // In several sums: in one, each addition would wait for the one before it.
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

// Adds two elements at `index` that are not equal and differ by `difference`; `size` is that of the
// expected one.
void add_difference(double difference, double size, const Tolerance& tolerance, int64_t index,
                    Difference& all) {
  const double excess = difference - allowed_difference(tolerance, size);
  const bool is_finite_difference = std::isfinite(difference);
  if (!is_finite_difference || excess > 0) ++all.num_mismatched;
  raise(all.max_diff, difference);
  if (size != 0 && std::isfinite(size)) raise(all.max_relative_diff, difference / size);
  double& required = all.smallest_passing_tolerance;
  if (!is_finite_difference) {
    required = kInfinity;
  } else if (difference > allowed_difference({required, required}, size)) {
    required = smallest_tolerance(difference, size);
  }
  all.sum += difference;
  all.sum_of_squares += difference * difference;
  ++all.histogram[histogram_bin(difference)];
  if (std::isnan(difference)) ++all.num_nan;
  // NaN is worst, then infinity, then what is furthest outside the tolerance.
  const int rank = is_finite_difference ? 0 : std::isnan(difference) ? 2 : 1;
  const bool is_worse =
      rank != all.worst_rank ? rank > all.worst_rank : rank == 0 && excess > all.worst_excess;
  if (all.worst >= 0 && !is_worse) return;
  all.worst = index;
  all.worst_rank = rank;
  all.worst_excess = excess;
}

// Adds two blocks of one dtype, which begin at position `first`, compared as T, which is `type`.
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
      continue;
    }
    all.max_finite_diff = std::max(all.max_finite_diff, difference);
    if constexpr (std::is_same_v<T, double>) {
      // Of integers in order the distance is exact, and fits 64 bits without a sign.
      const int64_t x = actual_order[i];
      const int64_t y = expected_order[i];
      const uint64_t steps =
          static_cast<uint64_t>(std::max(x, y)) - static_cast<uint64_t>(std::min(x, y));
      all.max_ulp_diff = std::max(all.max_ulp_diff, steps);
    }
  }
  if (all.worst >= first) {
    const c10::ScalarType dtype = actual_block.scalar_type();
    all.worst_actual = value_text(actual[all.worst - first], dtype);
    all.worst_expected = value_text(expected[all.worst - first], dtype);
  }
  all.histogram[0] += num_equal;
  add_products(multiply(actual, expected, size), all.products);
}

}  // namespace

bool have_equal_bits(const at::Tensor& actual, const at::Tensor& expected) {
  return actual.scalar_type() == expected.scalar_type() &&
         for_each_block({actual, expected}, [](c10::ArrayRef<at::Tensor> blocks, int64_t) {
           return std::memcmp(blocks[0].const_data_ptr(), blocks[1].const_data_ptr(),
                              blocks[0].nbytes()) == 0;
         });
}

Difference measure_difference(const at::Tensor& actual, const at::Tensor& expected,
                              const Tolerance& tolerance) {
  Difference all;
  if (have_equal_bits(actual, expected)) {
    all.histogram[0] = actual.numel();
    return all;
  }
  const bool is_complex = actual.is_complex() || expected.is_complex();
  const c10::ScalarType wide = is_complex ? c10::kComplexDouble : c10::kDouble;
  const c10::ScalarType dtype =
      actual.scalar_type() == expected.scalar_type() ? actual.scalar_type() : wide;
  for_each_block({actual, expected}, [&](c10::ArrayRef<at::Tensor> blocks, int64_t first) {
    const at::Tensor a = blocks[0].to(dtype);
    const at::Tensor e = blocks[1].to(dtype);
    if (is_complex) {
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

}  // namespace torch_ir
