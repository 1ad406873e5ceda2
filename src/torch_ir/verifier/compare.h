// compare_tensors: measures how far apart two tensors are.
//
// The rule: |actual - expected| <= atol + rtol * |expected|, elementwise; NaN equals NaN,
// infinities equal themselves; shapes and dtypes must agree. Integers and booleans must be equal
// unless they are given a tolerance. Floats are compared as doubles, integers in 64 bits, complex
// numbers by the modulus of their difference.
//
// Elements are compared a block at a time, so memory stays small. Tensors of equal bits are only
// read. Sums are doubles; squares of numbers beyond 1e154 are infinite.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/base/tolerance.h"

namespace torch_ir {

// Bins of TensorComparison::histogram. The first counts equal elements. The next 16 end below
// 1e-12, 1e-11, ..., 1e3. The last counts differences of 1e3 and more, elements that are finite or
// NaN on one side only, and infinities of different sign.
inline constexpr size_t kHistogramBins = 18;

// "equal", "< 1e-12", ..., "< 1e-1", "< 1e0", ..., "< 1e3", ">= 1e3".
std::string histogram_bin_name(size_t bin);

struct TensorComparison {
  bool is_close = false;
  // Why the tensors cannot be compared elementwise ("shape [1, 4], expected [1, 8]"), or empty. If
  // set, all errors are 0, and no tolerance would have passed.
  std::string mismatch;
  std::vector<int64_t> shape;
  std::string dtype;
  // Absolute errors over all elements: 0 for equal ones, infinite if only one side is finite, NaN
  // if only one side is NaN. NaN counts as the greatest.
  double max_diff = 0;
  double mean_diff = 0;
  // The maximum of |actual - expected| / |expected| over elements whose expected value is finite
  // and not 0; infinite or NaN if the actual value is not finite; 0 without such elements.
  double max_relative_diff = 0;
  // Infinite or NaN if mean_diff is.
  double root_mean_square_diff = 0;
  // The cosine between the tensors as vectors of the elements that are finite on both sides,
  // complex numbers as pairs: 1 for equal directions and for two zero vectors, 0 if one vector is
  // zero. NaN if elements differ that are not finite on both sides.
  double cosine_similarity = 1;
  // The SNR: 10 log10(sum |expected|^2 / sum |actual - expected|^2) in dB, over elements that are
  // finite on both sides. Infinite if all elements are equal; minus infinity if elements differ
  // that are not finite on both sides, or if the expected ones are all 0.
  double signal_to_noise = std::numeric_limits<double>::infinity();
  // The greatest distance in representable numbers of the dtype: 1 for neighbours, 0 for 0 and -0.
  // Empty except for real floats, and if elements differ that are not finite on both sides.
  std::optional<uint64_t> max_ulp_diff = std::nullopt;
  // Counts elements by difference, see kHistogramBins.
  std::array<int64_t, kHistogramBins> histogram = {};
  // How many in the last bin differ because one side is NaN; empty if none does.
  std::optional<int64_t> num_nan = std::nullopt;
  int64_t num_elements = 0;
  int64_t num_mismatched = 0;
  // The first element that exceeds the tolerance most or comes nearest to it, with both values as
  // text. Empty if all elements are equal.
  std::vector<int64_t> worst_index;
  std::string worst_actual;
  std::string worst_expected;
  // The smallest t with which rtol = atol = t would have passed; infinite if none would, as for
  // integers that had to be equal.
  double smallest_passing_tolerance = 0;
};

// Uses `tolerance`, whatever the dtype.
TensorComparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected,
                                 const Tolerance& tolerance);

// One line: "equal", or the errors; for a failure also the number of mismatched elements, the worst
// one, and the smallest passing tolerance.
std::string comparison_text(const TensorComparison& comparison);
std::ostream& operator<<(std::ostream& stream, const TensorComparison& comparison);

}  // namespace torch_ir
