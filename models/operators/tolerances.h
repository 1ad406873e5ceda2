// Which operators need more than the usual tolerance, and why.
#pragma once

#include <optional>
#include <string_view>

#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

struct CaseTolerance {
  Tolerance tolerance;
  std::string_view reason;
};

// For results of `op` ("conv2d") in `dtype`; nothing where default_tolerance will do.
std::optional<CaseTolerance> find_case_tolerance(std::string_view op, c10::ScalarType dtype);

}  // namespace torch_ir
