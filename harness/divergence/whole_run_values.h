// Values of nodes from a backend that only runs whole graphs: values become outputs.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/backend/backend.h"
#include "harness/divergence/explained_run.h"

namespace torch_ir {

// Leaves out values that the graph later writes to, since they no longer hold what their node
// computed. The arguments outlive the result.
std::unique_ptr<NodeValues> whole_run_values(Backend& backend, const ExplainedGraph& graph,
                                             uint64_t seed);

}  // namespace torch_ir
