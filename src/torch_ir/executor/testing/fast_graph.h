// What a plan at level `fast` makes of an EagerGraph, for tests.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {

ExecutionPlan fast_plan(const EagerGraph& graph);

// What it calls, in order, without reorders.
std::vector<std::string> calls_at_fast(const EagerGraph& graph);

// Runs it three times: the first run traces, the later ones replay, on the memory of the one
// before. Says which output is not laid out as what the calls computed, or not within 1e-4 of it;
// empty when all are.
std::string difference_at_fast(const EagerGraph& graph);

}  // namespace torch_ir
