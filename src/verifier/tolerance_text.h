// How a tolerance is printed.
#ifndef TORCH_IR_VERIFIER_TOLERANCE_TEXT_H_
#define TORCH_IR_VERIFIER_TOLERANCE_TEXT_H_

#include <string>

namespace torch_ir {

// Three digits, rounded up: a tolerance that is printed passes when it is given. "none" when it is
// infinite.
std::string tolerance_text(double tolerance);

}  // namespace torch_ir

#endif  // TORCH_IR_VERIFIER_TOLERANCE_TEXT_H_
