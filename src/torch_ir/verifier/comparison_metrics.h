// measure_difference: one pass over the elements of two tensors, a block at a time.
//
// It gathers all that comparisons, node reports and second opinions say of a difference.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "torch_ir/verifier/compare.h"

namespace torch_ir {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums of products, over elements that are finite on both sides.
struct Products {
  double actual = 0;
  double expected = 0;
  double mixed = 0;
};

struct Difference {
  // As in TensorComparison.
  double max_diff = 0;
  double max_relative_diff = 0;
  uint64_t max_ulp_diff = 0;
  double smallest_passing_tolerance = 0;
  int64_t num_mismatched = 0;
  int64_t num_nan = 0;
  std::array<int64_t, kHistogramBins> histogram = {};
  // Of |actual - expected| and its square.
  double sum = 0;
  double sum_of_squares = 0;
  Products products = {};
  // Over the elements that are finite on both sides.
  double max_finite_diff = 0;
  // Elements that differ and are not finite on both sides.
  int64_t num_non_finite = 0;
  // Position of the worst element; negative while all are equal.
  int64_t worst = -1;
  std::string worst_actual = {};
  std::string worst_expected = {};
  // 2 for NaN, 1 for infinite differences, 0 for others; and how far outside the tolerance.
  int worst_rank = 0;
  double worst_excess = 0;
};

// Both are strided and of one shape. False for tensors of two dtypes.
bool have_equal_bits(const at::Tensor& actual, const at::Tensor& expected);

// Of strided tensors of one shape. Those of several dtypes are compared as doubles.
Difference measure_difference(const at::Tensor& actual, const at::Tensor& expected,
                              const Tolerance& tolerance);

}  // namespace torch_ir
