#include "torch_ir/verifier/tolerance_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace torch_ir {

std::string tolerance_text(const Tolerance& tolerance) {
  return fmt::format("rtol {}, atol {}", tolerance.rtol, tolerance.atol);
}

std::string tolerance_text(double tolerance) {
  if (!std::isfinite(tolerance)) return "none";
  if (tolerance == 0) return "0";
  for (double value = tolerance;; value *= 1.001) {
    std::string text = fmt::format("{:.3g}", value);
    if (std::strtod(text.c_str(), nullptr) >= tolerance) return text;
  }
}

}  // namespace torch_ir
