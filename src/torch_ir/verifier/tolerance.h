// Tolerance: how far two elements may be apart and still agree, and how that is printed.
//
// tolerance_for is the one place that says which tolerance holds: integers and booleans are equal
// or not, whatever is given for all outputs, unless a tolerance is given for the output itself.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <map>
#include <string>

namespace torch_ir {

// |actual - expected| <= atol + rtol * |expected|
struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-5;

  bool operator==(const Tolerance&) const = default;
};

inline constexpr Tolerance kExactTolerance = {.rtol = 0, .atol = 0};

// The tolerances of the outputs of a graph.
struct ToleranceRule {
  // Of the outputs of floating point and complex numbers.
  Tolerance fixed = {};
  // default_tolerance of the dtype of the expected output, in place of `fixed`.
  bool by_dtype = false;
  // Of single outputs, whatever their dtype, by their position; these go first.
  std::map<size_t, Tolerance> outputs = {};

  bool operator==(const ToleranceRule&) const = default;
};

// Whether numbers of `dtype` are never rounded: integers and booleans.
bool compares_exactly(c10::ScalarType dtype);

// What torch.testing.assert_close takes for tensors of `dtype`.
// https://docs.pytorch.org/docs/stable/testing.html
Tolerance default_tolerance(c10::ScalarType dtype);

// The tolerance of `rule` for the output at `position`, expected to be of `dtype`.
Tolerance tolerance_for(const ToleranceRule& rule, size_t position, c10::ScalarType dtype);

// "rtol 1e-05, atol 1e-05"
std::string tolerance_text(const Tolerance& tolerance);

// Three digits, rounded up: a tolerance that is printed passes when it is given. "none" when it is
// infinite.
std::string tolerance_text(double tolerance);

// "rtol 1e-05, atol 1e-05", and ", integers exact" where there are any; where outputs have
// tolerances of their own, what chose them.
std::string rule_text(const ToleranceRule& rule, bool has_exact_outputs);

// " (rtol 0, atol 0)" where rule_text does not say that an output has `tolerance`, else empty.
std::string own_tolerance_text(const ToleranceRule& rule, const Tolerance& tolerance);

}  // namespace torch_ir
