// compare_tensors: how far apart are two tensors?
//
// The rule everywhere: |actual - expected| <= atol + rtol * |expected|, elementwise; NaN equals NaN
// only where both have it, infinities equal themselves; shapes and dtypes must agree. Floats are
// compared as doubles, integers exactly, complex numbers by the modulus of their difference. Memory
// stays small whatever the size: elements are compared a block at a time.
#ifndef TORCH_IR_VERIFIER_COMPARE_H_
#define TORCH_IR_VERIFIER_COMPARE_H_

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

inline constexpr size_t kHistogramBins = 18;

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
  // Of |actual - expected| / |expected|: over those elements that are expected to be finite and not
  // 0.
  double max_relative_diff = 0;
  double root_mean_square_diff = 0;
  // Of the tensors as vectors of their finite elements: 1 for equal directions, also of two zeros.
  double cosine_similarity = 1;
  // 10 log10(sum expected^2 / sum (actual - expected)^2), in dB; infinite where nothing differs.
  double signal_to_noise = std::numeric_limits<double>::infinity();
  // The most representable numbers of the dtype between two elements. Nothing for other dtypes than
  // real floats, and where only one side is finite.
  std::optional<uint64_t> max_ulp_diff = std::nullopt;
  // How many elements differ by 0, by less than 1e-12, than 1e-11, ..., than 1e3, and by more, or
  // in being finite.
  std::array<int64_t, kHistogramBins> histogram = {};
  int64_t num_elements = 0;
  // Elements outside the tolerance.
  int64_t num_mismatched = 0;
  // The first of the elements that are furthest outside the tolerance, or nearest to it; both
  // values as text. Empty when all elements are equal.
  std::vector<int64_t> worst_index;
  std::string worst_actual;
  std::string worst_expected;
  // The smallest t with which rtol = atol = t would have passed; infinite when none would.
  double smallest_passing_tolerance = 0;
};

TensorComparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected,
                                 const Tolerance& tolerance = {});

// One line: "equal", or the differences, and for a failure the worst element and the tolerance that
// would have passed.
std::ostream& operator<<(std::ostream& stream, const TensorComparison& comparison);

}  // namespace torch_ir

#endif  // TORCH_IR_VERIFIER_COMPARE_H_
