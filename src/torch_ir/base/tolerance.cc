#include "torch_ir/base/tolerance.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace torch_ir {

bool compares_exactly(c10::ScalarType dtype) {
  return c10::isIntegralType(dtype, /*includeBool=*/true);
}

Tolerance default_tolerance(c10::ScalarType dtype) {
  switch (c10::isQIntType(dtype) ? c10::kFloat : c10::toRealValueType(dtype)) {
    case c10::kHalf:
      return {.rtol = 1e-3, .atol = 1e-5};
    case c10::kBFloat16:
      return {.rtol = 1.6e-2, .atol = 1e-5};
    case c10::kFloat:
      return {.rtol = 1.3e-6, .atol = 1e-5};
    case c10::kDouble:
      return {.rtol = 1e-7, .atol = 1e-7};
    default:
      return kExactTolerance;
  }
}

Tolerance tolerance_for(const ToleranceRule& rule, size_t position, c10::ScalarType dtype) {
  const auto own = rule.outputs.find(position);
  if (own != rule.outputs.end()) return own->second;
  if (compares_exactly(dtype)) return kExactTolerance;
  return rule.by_dtype ? default_tolerance(dtype) : rule.fixed;
}

std::string tolerance_text(const Tolerance& tolerance) {
  return fmt::format("rtol {}, atol {}", tolerance.rtol, tolerance.atol);
}

std::string tolerance_text(double tolerance) {
  if (!std::isfinite(tolerance)) return "none";
  if (tolerance == 0) return "0";
  // The least numbers are too far apart for a step of a thousandth.
  for (double value = tolerance;; value = std::nextafter(value * 1.001, INFINITY)) {
    std::string text = fmt::format("{:.3g}", value);
    if (std::strtod(text.c_str(), nullptr) >= tolerance) return text;
  }
}

std::string rule_text(const ToleranceRule& rule, bool has_exact_outputs) {
  if (!rule.outputs.empty()) return "tolerances by output";
  if (rule.by_dtype) return "tolerances by dtype";
  return tolerance_text(rule.fixed) + (has_exact_outputs ? ", integers exact" : "");
}

std::string own_tolerance_text(const ToleranceRule& rule, const Tolerance& tolerance) {
  if (!rule.by_dtype && rule.outputs.empty() && tolerance == rule.fixed) return {};
  return " (" + tolerance_text(tolerance) + ")";
}

}  // namespace torch_ir
