// lower: the last pass of compile. Turns a graph into the program that runs.
#pragma once

#include "torch_ir/executor/graph/graph.h"
#include "torch_ir/executor/graph/program.h"

namespace torch_ir {

// What becomes of results that nobody reads.
enum class UnreadResults {
  kDrop,
  // They have slots, good until the next step.
  kKeep,
};

// The program of `graph`: argument stacks prepared, constants that are not written in place,
// kernels chosen, values given slots from their definition to their last use. `ranges` are those of
// the IR.
Program lower(const PlanGraph& graph, const std::vector<SymbolRange>& ranges,
              UnreadResults unread = UnreadResults::kDrop);

}  // namespace torch_ir
