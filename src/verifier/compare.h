// compare_tensors: how far apart are two tensors?
//
// The rule everywhere: |actual - expected| <= atol + rtol * |expected|, elementwise; NaN equals NaN
// only where both have it, infinities equal themselves; shapes and dtypes must agree.
#ifndef TORCH_IR_VERIFIER_COMPARE_H_
#define TORCH_IR_VERIFIER_COMPARE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace torch_ir {

struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-5;
};

struct TensorComparison {
  // Whether every element is within the tolerance.
  bool is_close = false;
  // Why the tensors could not be compared elementwise ("shape [1, 4], expected [1, 8]"); empty
  // when they could. All figures below are 0 in that case.
  std::string mismatch;
  std::vector<int64_t> shape;
  std::string dtype;
  // Over all elements that are not equal; infinite where only one side is finite, NaN where only
  // one side is NaN.
  double max_diff = 0;
  double mean_diff = 0;
  int64_t num_elements = 0;
  // Elements outside the tolerance.
  int64_t num_mismatched = 0;
  // The element that is furthest outside the tolerance, or nearest to it; both values as text.
  std::vector<int64_t> worst_index;
  std::string worst_actual;
  std::string worst_expected;
  // The smallest t with which rtol = atol = t would have passed; infinite when none would.
  double smallest_passing_tolerance = 0;
};

TensorComparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected,
                                 const Tolerance& tolerance = {});

}  // namespace torch_ir

#endif  // TORCH_IR_VERIFIER_COMPARE_H_
