#include "torch_ir/verifier/compare.h"

#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/complex.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <ostream>
#include <utility>

#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Small enough for the caches, large enough that a block's overhead is nothing.
constexpr int64_t kBlockSize = 1 << 16;

double allowed_difference(const Tolerance& tolerance, double expected) {
  return tolerance.atol + tolerance.rtol * expected;
}

// The smallest t with difference <= t + t * expected, as allowed_difference rounds it.
double required_tolerance(double difference, double expected) {
  if (!std::isfinite(difference)) return kInfinity;
  double t = difference / (1 + expected);
  while (allowed_difference({t, t}, expected) < difference) t = std::nextafter(t, kInfinity);
  return t;
}

bool is_nan(double value) { return std::isnan(value); }
bool is_nan(const std::complex<double>& value) {
  return std::isnan(value.real()) || std::isnan(value.imag());
}
bool is_nan(int64_t) { return false; }
bool is_nan(uint64_t) { return false; }

double magnitude(double value) { return std::abs(value); }
double magnitude(const std::complex<double>& value) { return std::abs(value); }
double magnitude(int64_t value) { return std::abs(static_cast<double>(value)); }
double magnitude(uint64_t value) { return static_cast<double>(value); }

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

// Gathers the figures of a comparison, element by element.
class Figures {
 public:
  Figures(const Tolerance& tolerance, c10::ScalarType type) : tolerance_(tolerance), type_(type) {}

  template <class T>
  void add_block(const T* actual, const T* expected, int64_t size, int64_t first) {
    double sum = 0;
    for (int64_t i = 0; i < size; ++i) {
      if (actual[i] == expected[i] || (is_nan(actual[i]) && is_nan(expected[i]))) continue;
      sum += add(actual[i], expected[i], first + i);
    }
    sum_ += sum;
  }

  void finish(TensorComparison& result) const {
    result.is_close = num_mismatched_ == 0;
    result.max_diff = plain_nan(max_diff_);
    result.mean_diff =
        result.num_elements == 0 ? 0 : plain_nan(sum_ / static_cast<double>(result.num_elements));
    result.num_mismatched = num_mismatched_;
    result.smallest_passing_tolerance = required_tolerance_;
    if (worst_ < 0) return;
    result.worst_actual = worst_actual_;
    result.worst_expected = worst_expected_;
    result.worst_index.resize(result.shape.size());
    int64_t rest = worst_;
    for (size_t i = result.shape.size(); i-- > 0;) {
      result.worst_index[i] = rest % result.shape[i];
      rest /= result.shape[i];
    }
  }

 private:
  // Returns the difference of two elements that are not equal.
  template <class T>
  double add(const T& actual, const T& expected, int64_t index) {
    const double difference = distance(actual, expected);
    const double size = magnitude(expected);
    const double excess = difference - allowed_difference(tolerance_, size);
    if (!std::isfinite(difference) || excess > 0) ++num_mismatched_;
    if (std::isnan(difference) || difference > max_diff_) max_diff_ = difference;
    required_tolerance_ = std::max(required_tolerance_, required_tolerance(difference, size));
    if (worst_ < 0 || is_worse(difference, excess)) {
      worst_ = index;
      worst_difference_ = difference;
      worst_excess_ = excess;
      worst_actual_ = value_text(actual, type_);
      worst_expected_ = value_text(expected, type_);
    }
    return difference;
  }

  // NaN is worst, then infinity, then what is furthest outside the tolerance.
  bool is_worse(double difference, double excess) const {
    const auto rank = [](double value) {
      return std::isnan(value) ? 2 : std::isinf(value) ? 1 : 0;
    };
    const int mine = rank(difference);
    const int other = rank(worst_difference_);
    return mine != other ? mine > other : mine == 0 && excess > worst_excess_;
  }

  const Tolerance tolerance_;
  const c10::ScalarType type_;
  double sum_ = 0;
  double max_diff_ = 0;
  double required_tolerance_ = 0;
  int64_t num_mismatched_ = 0;
  // Position of the worst element in row-major order; negative while all were equal.
  int64_t worst_ = -1;
  double worst_difference_ = 0;
  double worst_excess_ = 0;
  std::string worst_actual_;
  std::string worst_expected_;
};

using BlockVisitor =
    std::function<void(const at::Tensor& actual, const at::Tensor& expected, int64_t first)>;

// Visits both tensors in row-major order, a block of at most kBlockSize elements at a time.
void for_each_block(const at::Tensor& actual, const at::Tensor& expected, int64_t first,
                    const BlockVisitor& visit) {
  const int64_t size = actual.numel();
  if (size == 0) return;
  if (size <= kBlockSize) {
    visit(actual, expected, first);
    return;
  }
  int64_t dim = 0;
  while (actual.size(dim) == 1) ++dim;
  const int64_t row = size / actual.size(dim);
  const int64_t rows_at_once = std::max<int64_t>(1, kBlockSize / row);
  for (int64_t i = 0; i < actual.size(dim); i += rows_at_once) {
    const int64_t count = std::min(rows_at_once, actual.size(dim) - i);
    for_each_block(actual.narrow(dim, i, count), expected.narrow(dim, i, count), first + i * row,
                   visit);
  }
}

at::Tensor plain_block(const at::Tensor& block) {
  return block.cpu().resolve_conj().resolve_neg().contiguous();
}

bool has_equal_bits(const at::Tensor& a, const at::Tensor& b) {
  return std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

template <class T>
const T* data_as(const at::Tensor& tensor) {
  return static_cast<const T*>(tensor.const_data_ptr());
}

void add_block(Figures& figures, const at::Tensor& actual, const at::Tensor& expected,
               int64_t first) {
  const c10::ScalarType type = actual.scalar_type();
  const int64_t size = actual.numel();
  if (type == c10::ScalarType::UInt64) {
    figures.add_block(data_as<uint64_t>(actual), data_as<uint64_t>(expected), size, first);
    return;
  }
  const c10::ScalarType wide = c10::isComplexType(type)    ? c10::kComplexDouble
                               : c10::isFloatingType(type) ? c10::kDouble
                                                           : c10::kLong;
  const at::Tensor a = actual.to(wide);
  const at::Tensor e = expected.to(wide);
  if (wide == c10::kComplexDouble) {
    figures.add_block(data_as<std::complex<double>>(a), data_as<std::complex<double>>(e), size,
                      first);
  } else if (wide == c10::kDouble) {
    figures.add_block(data_as<double>(a), data_as<double>(e), size, first);
  } else {
    figures.add_block(data_as<int64_t>(a), data_as<int64_t>(e), size, first);
  }
}

// The tensor in a form whose elements can be told apart by strides.
at::Tensor strided(const at::Tensor& tensor) {
  if (tensor.is_quantized()) return tensor.dequantize();
  return tensor.layout() == c10::kStrided ? tensor : tensor.to_dense();
}

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
  Figures figures(tolerance, actual.scalar_type());
  for_each_block(strided(actual), strided(expected), 0,
                 [&](const at::Tensor& a, const at::Tensor& e, int64_t first) {
                   const at::Tensor actual_block = plain_block(a);
                   const at::Tensor expected_block = plain_block(e);
                   if (has_equal_bits(actual_block, expected_block)) return;
                   add_block(figures, actual_block, expected_block, first);
                 });
  figures.finish(result);
  return result;
}

}  // namespace torch_ir
