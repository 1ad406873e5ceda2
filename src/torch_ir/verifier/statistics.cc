#include "torch_ir/verifier/statistics.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/view_as_real.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/FunctionRef.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

constexpr int64_t kStatisticsBlock = 1 << 16;

// Visits the elements of `tensor` in row-major order, a block of at most kStatisticsBlock at a
// time.
void for_each_block(const at::Tensor& tensor, c10::function_ref<void(const at::Tensor&)> visit) {
  if (tensor.numel() == 0) return;
  if (tensor.numel() <= kStatisticsBlock) return visit(tensor);
  int64_t dim = 0;
  while (tensor.size(dim) == 1) ++dim;
  const int64_t row = tensor.numel() / tensor.size(dim);
  const int64_t rows_at_once = std::max<int64_t>(1, kStatisticsBlock / row);
  for (int64_t i = 0; i < tensor.size(dim); i += rows_at_once) {
    for_each_block(tensor.narrow(dim, i, std::min(rows_at_once, tensor.size(dim) - i)), visit);
  }
}

bool has_values(const at::Tensor& tensor) { return tensor.defined() && !tensor.is_meta(); }

at::Tensor strided_values(const at::Tensor& tensor) {
  if (tensor.is_quantized()) return tensor.dequantize();
  return tensor.layout() == c10::kStrided ? tensor : tensor.to_dense();
}

// The numbers of a block, those of complex numbers one after the other.
template <class T>
std::pair<const T*, const T*> numbers(const at::Tensor& contiguous) {
  const T* begin = contiguous.const_data_ptr<T>();
  return {begin, begin + contiguous.numel()};
}

at::Tensor as_doubles(const at::Tensor& block) {
  const at::Tensor plain = block.cpu().resolve_conj().resolve_neg();
  if (!plain.is_complex()) return plain.to(at::kDouble).contiguous();
  return at::view_as_real(plain.to(at::kComplexDouble)).contiguous();
}

// Mean and sum of squared deviations of what was added (Chan, Golub and LeVeque, Updating Formulae
// and a Pairwise Algorithm for Computing Sample Variances, 1979).
class Moments {
 public:
  void add(double value) {
    ++count_;
    const double delta = value - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (value - mean_);
  }

  int64_t count() const { return count_; }
  double mean() const { return mean_; }
  double standard_deviation() const { return std::sqrt(squares_ / static_cast<double>(count_)); }

 private:
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

class Summary {
 public:
  void add(double value) {
    if (std::isnan(value)) {
      ++num_nan_;
    } else if (std::isinf(value)) {
      ++num_inf_;
    } else {
      min_ = moments_.count() == 0 ? value : std::min(min_, value);
      max_ = moments_.count() == 0 ? value : std::max(max_, value);
      moments_.add(value);
    }
  }

  void write(TensorStatistics& result) const {
    result.num_nan = num_nan_;
    result.num_inf = num_inf_;
    if (moments_.count() == 0) return;
    result.min = min_;
    result.max = max_;
    result.mean = moments_.mean();
    result.standard_deviation = moments_.standard_deviation();
  }

 private:
  int64_t num_nan_ = 0;
  int64_t num_inf_ = 0;
  double min_ = 0;
  double max_ = 0;
  Moments moments_;
};

// One that is NaN in a part is NaN, whatever the other part is.
double modulus(double real, double imaginary) {
  return std::isnan(real) || std::isnan(imaginary) ? std::nan("") : std::hypot(real, imaginary);
}

}  // namespace

TensorStatistics statistics(const std::string& name, const at::Tensor& tensor) {
  TensorStatistics result;
  result.name = name;
  if (!tensor.defined()) return result;
  result.shape = tensor.sizes().vec();
  result.dtype = dtype_name(tensor.scalar_type());
  result.num_elements = tensor.numel();
  if (!has_values(tensor)) return result;
  const c10::InferenceMode inference_mode;
  Summary summary;
  for_each_block(strided_values(tensor), [&](const at::Tensor& block) {
    const at::Tensor values = as_doubles(block);
    auto [value, end] = numbers<double>(values);
    if (block.is_complex()) {
      for (; value != end; value += 2) summary.add(modulus(value[0], value[1]));
    } else {
      for (; value != end; ++value) summary.add(*value);
    }
  });
  summary.write(result);
  return result;
}

NonFiniteValues find_non_finite(const at::Tensor& tensor) {
  NonFiniteValues found;
  const bool can_have = has_values(tensor) && (tensor.is_complex() || tensor.is_floating_point()) &&
                        !tensor.is_quantized();
  if (!can_have) return found;
  const c10::InferenceMode inference_mode;
  for_each_block(strided_values(tensor), [&](const at::Tensor& block) {
    const at::Tensor values = as_doubles(block);
    const auto [begin, end] = numbers<double>(values);
    // A finite number less itself is 0; the sum of such differences costs no branch.
    double sum = 0;
    for (const double* value = begin; value != end; ++value) sum += *value - *value;
    if (sum == 0) return;
    found.has_nan |= std::any_of(begin, end, [](double value) { return std::isnan(value); });
    found.has_inf |= std::any_of(begin, end, [](double value) { return std::isinf(value); });
  });
  return found;
}

}  // namespace torch_ir
