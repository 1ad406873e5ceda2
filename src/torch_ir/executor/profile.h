// The time that the nodes of a graph take.
#pragma once

#include <vector>

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/executor/graph/lowered_graph.h"
#include "torch_ir/executor/replay/replays.h"

namespace torch_ir {

// What replays took, node by node.
std::vector<NodeProfile> profile_of(const LoweredGraph& graph, const Replays::Timing& timing);

// The same for a graph that runs step by step: runs it once, and `rounds` times that count. How
// many bytes it reads and writes is not known.
std::vector<NodeProfile> profile_steps(const LoweredGraph& graph,
                                       const std::vector<at::Tensor>& inputs, int rounds);

}  // namespace torch_ir
