// How a tolerance is printed.
#pragma once

#include <string>

#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

// "rtol 1e-05, atol 1e-05"
std::string tolerance_text(const Tolerance& tolerance);

// Three digits, rounded up: a tolerance that is printed passes when it is given. "none" when it is
// infinite.
std::string tolerance_text(double tolerance);

}  // namespace torch_ir
