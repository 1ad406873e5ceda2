// run_control_flow: conditions and loops over graphs.
#pragma once

#include "torch_ir/executor/interpreter/step.h"

namespace torch_ir {

// Replaces the arguments on the stack by the results. Of a condition the arguments are what decides
// and the operands of the graphs; of a loop what is carried from one iteration to the next and,
// behind it, what is the same in all.
void run_control_flow(const ControlFlowCall& call, Stack& stack, ProgramRunner run_program);

}  // namespace torch_ir
