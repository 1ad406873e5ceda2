// recognize: functions that models spell out, as the operators that they are.
//
// Hugging Face writes the tanh form of GELU as eight operators. In a trace they become one call of
// aten::gelu, which then may be part of the product before it.
#pragma once

#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

// After functionalize.
void recognize_functions(Trace& trace);

}  // namespace torch_ir
