#include "torch_ir/verifier/statistics.h"

#include <ATen/ops/view_as_real.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <cstdint>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/verifier/tensor_blocks.h"

namespace torch_ir {
namespace {

bool has_values(const at::Tensor& tensor) { return tensor.defined() && !tensor.is_meta(); }

// Calls `visit` with a block of numbers at a time as doubles; complex numbers as pairs.
template <class Visit>
void for_each_block_of_numbers(const at::Tensor& tensor, const Visit& visit) {
  const c10::InferenceMode inference_mode;
  for_each_block({strided(tensor)}, [&](c10::ArrayRef<at::Tensor> blocks, int64_t) {
    const at::Tensor& block = blocks.front();
    const at::Tensor numbers =
        block.is_complex() ? at::view_as_real(block.to(at::kComplexDouble)) : block.to(at::kDouble);
    const auto* begin = numbers.const_data_ptr<double>();
    visit(begin, begin + numbers.numel());
    return true;
  });
}

// NaN if either part is.
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
  // Updates mean and squared deviations (Chan, Golub and LeVeque, Updating Formulae and a Pairwise
  // Algorithm for Computing Sample Variances, 1979).
  int64_t count = 0;
  double mean = 0;
  double squares = 0;
  const auto add = [&](double value) {
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? result.num_nan : result.num_inf);
      return;
    }
    // Both are NaN before the first value.
    result.min = std::fmin(result.min, value);
    result.max = std::fmax(result.max, value);
    const double delta = value - mean;
    mean += delta / static_cast<double>(++count);
    squares += delta * (value - mean);
  };
  for_each_block_of_numbers(tensor, [&](const double* value, const double* end) {
    if (tensor.is_complex()) {
      for (; value != end; value += 2) add(modulus(value[0], value[1]));
    } else {
      for (; value != end; ++value) add(*value);
    }
  });
  if (count == 0) return result;
  result.mean = mean;
  result.standard_deviation = std::sqrt(squares / static_cast<double>(count));
  return result;
}

NonFiniteCount count_non_finite(const at::Tensor& tensor) {
  NonFiniteCount count;
  const bool can_have = has_values(tensor) && (tensor.is_complex() || tensor.is_floating_point());
  if (!can_have) return count;
  const int64_t parts = tensor.is_complex() ? 2 : 1;
  for_each_block_of_numbers(tensor, [&](const double* begin, const double* end) {
    // A finite number minus itself is 0; summing such differences needs no branch.
    double sum = 0;
    for (const double* value = begin; value != end; ++value) sum += *value - *value;
    if (sum == 0) return;
    for (; begin != end; begin += parts) {
      const double value = parts == 1 ? *begin : modulus(begin[0], begin[1]);
      if (std::isnan(value)) ++count.num_nan;
      if (std::isinf(value)) ++count.num_inf;
    }
  });
  return count;
}

}  // namespace torch_ir
