// What a plan at level `fast` makes of an EagerGraph, for tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {

ExecutionPlan fast_plan(const EagerGraph& graph);

// What it calls, in order, without reorders.
std::vector<std::string> calls_at_fast(const EagerGraph& graph);

// What is wrong with the output at `index`, which is not within 1e-4 of what the calls computed;
// empty where nothing is.
using SecondJudge =
    std::function<std::string(const std::vector<at::Tensor>& outputs, size_t index)>;

// Runs it three times: the first run traces, the later ones replay, on the memory of the one
// before. Says which output is not laid out as what the calls computed, or not within 1e-4 of it
// and not right for a second judge either; empty when all are.
std::string difference_at_fast(const EagerGraph& graph, const SecondJudge& judge = nullptr);

}  // namespace torch_ir
