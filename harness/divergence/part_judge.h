// Judges values by the smallest part of the graph that computes them from values that the run
// returned.
#pragma once

#include <memory>

#include "harness/divergence/reference_run.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {

// A part begins behind its inputs, or earlier where an input was not returned. If the value is then
// wrong, the part begins before the inputs that are wrong themselves: the run may not have used
// them. Keeps all values. Both arguments must outlive the result.
std::unique_ptr<LocalJudge> make_part_judge(const ExplainedRun& run, const ExplainedGraph& graph);

}  // namespace torch_ir
