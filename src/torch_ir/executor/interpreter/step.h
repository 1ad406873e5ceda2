// run_step: one call of a program, from the slots of a run and back into them.
#pragma once

#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include <vector>

#include "torch_ir/executor/graph/program.h"

namespace torch_ir {

using Slots = c10::SmallVector<c10::IValue, 64>;
using Stack = std::vector<c10::IValue>;

// Runs a graph of a control flow step on its inputs.
using ProgramRunner =
    c10::function_ref<std::vector<c10::IValue>(const Program& program, Stack inputs)>;

inline void store(Slots& slots, Slot slot, c10::IValue value) {
  if (slot != kNoSlot) slots[slot] = std::move(value);
}

// Throws ExecutionError that names the step and the shapes it was called with. `stack` is scratch.
void run_step(const Step& step, Slots& slots, Stack& stack, ProgramRunner run_program);

}  // namespace torch_ir
