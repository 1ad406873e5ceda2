// run_step: one call of a graph, from the values of a run and back into them.
#pragma once

#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include <vector>

#include "torch_ir/executor/graph/lowered_graph.h"

namespace torch_ir {

// What a run has made so far and somebody still reads, by ValueId.
using RunValues = c10::SmallVector<c10::IValue, 64>;
using Stack = std::vector<c10::IValue>;

// Runs a graph of a control flow node on its inputs.
using GraphRunner =
    c10::function_ref<std::vector<c10::IValue>(const LoweredGraph& graph, Stack inputs)>;

// Throws ExecutionError that names the node and the shapes it was called with. `stack` is scratch.
void run_step(const LoweredNode& node, RunValues& values, Stack& stack, GraphRunner run_graph);

// Replaces the arguments on the stack by the results. Of a condition the arguments are what decides
// and the operands of the graphs; of a loop what is carried from one iteration to the next and,
// behind it, what is the same in all.
void run_control_flow(const ControlFlowCall& call, Stack& stack, GraphRunner run_graph);

}  // namespace torch_ir
