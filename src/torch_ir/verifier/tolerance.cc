#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

Tolerance default_tolerance(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Half:
      return {.rtol = 1e-3, .atol = 1e-5};
    case c10::ScalarType::BFloat16:
      return {.rtol = 1.6e-2, .atol = 1e-5};
    case c10::ScalarType::Float:
    case c10::ScalarType::ComplexFloat:
    case c10::ScalarType::QInt8:
    case c10::ScalarType::QUInt8:
    case c10::ScalarType::QInt32:
    case c10::ScalarType::QUInt4x2:
    case c10::ScalarType::QUInt2x4:
      return {.rtol = 1.3e-6, .atol = 1e-5};
    case c10::ScalarType::Double:
    case c10::ScalarType::ComplexDouble:
      return {.rtol = 1e-7, .atol = 1e-7};
    case c10::ScalarType::ComplexHalf:
      return {.rtol = 1e-3, .atol = 1e-5};
    default:
      return {.rtol = 0, .atol = 0};
  }
}

Tolerance tolerance_for(const ToleranceRule& rule, size_t position, c10::ScalarType dtype) {
  const auto own = rule.outputs.find(position);
  if (own != rule.outputs.end()) return own->second;
  return rule.by_dtype ? default_tolerance(dtype) : rule.fixed;
}

}  // namespace torch_ir
