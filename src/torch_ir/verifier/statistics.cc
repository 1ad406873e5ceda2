#include "torch_ir/verifier/statistics.h"

#include <c10/core/InferenceMode.h>

#include <cmath>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/verifier/tensor_blocks.h"

namespace torch_ir {
namespace {

// Calls `visit` with a block of numbers at a time, as doubles or pairs of them.
template <class Visit>
void for_each_block_of_numbers(const at::Tensor& tensor, const Visit& visit) {
  if (!tensor.defined() || tensor.is_meta()) return;
  const c10::InferenceMode inference_mode;
  for_each_block({strided(tensor)}, [&](c10::ArrayRef<at::Tensor> blocks, int64_t) {
    visit(blocks[0].to(tensor.is_complex() ? at::kComplexDouble : at::kDouble));
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
  const bool is_complex = tensor.is_complex();
  for_each_block_of_numbers(tensor, [&](const at::Tensor& numbers) {
    const auto* value = static_cast<const double*>(numbers.const_data_ptr());
    for (int64_t i = 0, size = numbers.numel(); i < size; ++i) {
      add(is_complex ? modulus(value[2 * i], value[2 * i + 1]) : value[i]);
    }
  });
  if (count == 0) return result;
  result.mean = mean;
  result.standard_deviation = std::sqrt(squares / static_cast<double>(count));
  return result;
}

int64_t count_nan(const at::Tensor& tensor) {
  int64_t count = 0;
  if (!tensor.is_complex() && !tensor.is_floating_point()) return count;
  for_each_block_of_numbers(
      tensor, [&](const at::Tensor& numbers) { count += numbers.isnan().sum().item<int64_t>(); });
  return count;
}

}  // namespace torch_ir
