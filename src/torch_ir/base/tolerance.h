// Tolerance: how far apart two elements may be and still agree.
//
// tolerance_for alone decides which tolerance applies: a tolerance for all outputs does not apply
// to integers and booleans, which must be equal unless the single output has a tolerance.
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

struct ToleranceRule {
  // For floating-point and complex outputs.
  Tolerance fixed = {};
  // Replaces `fixed` with default_tolerance of the expected dtype.
  bool by_dtype = false;
  // For single outputs of any dtype, by position; these take precedence.
  std::map<size_t, Tolerance> outputs = {};

  bool operator==(const ToleranceRule&) const = default;
};

// Whether numbers of `dtype` are never rounded: integers and booleans.
bool compares_exactly(c10::ScalarType dtype);

// The default of torch.testing.assert_close for `dtype`.
// https://docs.pytorch.org/docs/stable/testing.html
Tolerance default_tolerance(c10::ScalarType dtype);

Tolerance tolerance_for(const ToleranceRule& rule, size_t position, c10::ScalarType dtype);

// "rtol 1e-05, atol 1e-05"
std::string tolerance_text(const Tolerance& tolerance);

// Three digits, rounded up, so that a printed tolerance passes. "none" if infinite.
std::string tolerance_text(double tolerance);

// "rtol 1e-05, atol 1e-05", with ", integers exact" if there are any; or "tolerances by dtype"
// or "tolerances by output".
std::string rule_text(const ToleranceRule& rule, bool has_exact_outputs);

// " (rtol 0, atol 0)" if rule_text does not cover an output's `tolerance`, else empty.
std::string own_tolerance_text(const ToleranceRule& rule, const Tolerance& tolerance);

}  // namespace torch_ir
