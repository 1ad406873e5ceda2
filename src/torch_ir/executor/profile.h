// What runs of a graph say of its nodes.
#pragma once

#include <optional>
#include <vector>

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/executor/graph/lowered_graph.h"
#include "torch_ir/executor/replay/segmented_graph.h"

namespace torch_ir {

// Of the segments that were replayed; nothing where none was.
std::optional<PlanMemory> memory_of(const SegmentedRunRecord& run);

// Runs the graph once, and `rounds` times that count. How many bytes a node reads and writes is
// known of those that are replayed.
std::vector<NodeProfile> profile_of(const LoweredGraph& graph, SegmentedGraph& segmented,
                                    const std::vector<at::Tensor>& inputs, int rounds);

}  // namespace torch_ir
