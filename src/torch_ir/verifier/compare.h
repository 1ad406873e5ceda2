// compare_tensors: how far apart are two tensors?
//
// The rule everywhere: |actual - expected| <= atol + rtol * |expected|, elementwise; NaN equals NaN
// only where both have it, infinities equal themselves; shapes and dtypes must agree. Integers and
// booleans are equal or not, unless they are given a tolerance. Floats are compared as doubles,
// integers in 64 bits, complex numbers by the modulus of their difference. Memory stays small
// whatever the size: elements are compared a block at a time.
//
// Called for every output, and node by node, so it costs little: tensors of equal bits are only
// read. Sums are those of doubles; squares of numbers beyond 1e154 are infinite in them.
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

#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

// Bins of TensorComparison::histogram. The first counts elements that are equal. Then come 16 that
// end below 1e-12, 1e-11, ..., 1e3; each begins where the one before it ends. The last counts
// differences of 1e3 and more, and elements of which one side only is finite or NaN, or that are
// infinities of either sign.
inline constexpr size_t kHistogramBins = 18;

// "equal", "< 1e-12", ..., "< 1e-1", "< 1e0", ..., "< 1e3", ">= 1e3".
std::string histogram_bin_name(size_t bin);

struct TensorComparison {
  // Whether every element is within the tolerance.
  bool is_close = false;
  // Why the tensors could not be compared elementwise ("shape [1, 4], expected [1, 8]"); empty
  // when they could. The differences are 0 in that case, and no tolerance would have passed.
  std::string mismatch;
  std::vector<int64_t> shape;
  std::string dtype;
  // Of |actual - expected| over all elements, 0 for equal ones; infinite where only one side is
  // finite, NaN where only one side is NaN, and NaN counts as the greatest.
  double max_diff = 0;
  double mean_diff = 0;
  // Of |actual - expected| / |expected|, over the elements that are expected to be finite and not
  // 0, infinite or NaN where the actual one is not finite; 0 where there are none.
  double max_relative_diff = 0;
  // Infinite or NaN where mean_diff is.
  double root_mean_square_diff = 0;
  // Of the tensors as vectors of those elements that are finite on both sides, complex numbers as
  // pairs: from -1 to 1, which are equal directions, also of two zeros; 0 where one of them is 0.
  // NaN where elements differ that are not finite on both sides.
  double cosine_similarity = 1;
  // 10 log10(sum |expected|^2 / sum |actual - expected|^2) in dB, over the elements that are finite
  // on both sides. Infinite where all elements are equal; minus infinite where what differs is not
  // finite on both sides, or the expected ones are all 0.
  double signal_to_noise = std::numeric_limits<double>::infinity();
  // The greatest distance of two elements in representable numbers of the dtype: 1 for neighbours,
  // 0 for 0 and -0. Nothing for other dtypes than real floats, and where elements differ that are
  // not finite on both sides.
  std::optional<uint64_t> max_ulp_diff = std::nullopt;
  // How many elements differ by how much, see kHistogramBins.
  std::array<int64_t, kHistogramBins> histogram = {};
  // How many in its last bin differ because one side is NaN; nothing where none does.
  std::optional<int64_t> num_nan = std::nullopt;
  int64_t num_elements = 0;
  // Elements outside the tolerance.
  int64_t num_mismatched = 0;
  // The first of the elements that are furthest outside the tolerance, or nearest to it; both
  // values as text. Empty when all elements are equal.
  std::vector<int64_t> worst_index;
  std::string worst_actual;
  std::string worst_expected;
  // The smallest t with which rtol = atol = t would have passed; infinite when none would, as for
  // integers that had to be equal.
  double smallest_passing_tolerance = 0;
};

// By the tolerance that outputs of their dtype have where nothing is given, see tolerance_for.
TensorComparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected);

// By `tolerance`, whatever the dtype.
TensorComparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected,
                                 const Tolerance& tolerance);

// One line: "equal", or the differences, and for a failure also how many elements, the worst of
// them and the tolerance that would have passed.
std::ostream& operator<<(std::ostream& stream, const TensorComparison& comparison);

}  // namespace torch_ir
