// GraphRange: nodes of a graph that run together, with their inputs and outputs.
#pragma once

#include <cstddef>
#include <vector>

#include "torch_ir/runtime/graph/lowered_graph.h"

namespace torch_ir {

struct GraphRange {
  // Outlives the range.
  const LoweredGraph* graph;
  size_t first;
  size_t last;
  // For a part: everything that it reads and does not make, but constants only if they are written,
  // as the run has copies of those. A part writes to inputs marked so; a run of the whole graph
  // copies them first.
  std::vector<GraphPort> inputs = {};
  std::vector<GraphPort> outputs = {};
  // For a part: those of `inputs` that nothing reads later.
  std::vector<ValueId> released = {};
  bool is_whole = false;

  const LoweredValue& value(const GraphPort& port) const { return graph->values[port.value]; }
};

GraphRange whole_range(const LoweredGraph& graph);

// By value: one more than the number of the last node that reads it, SIZE_MAX for an output.
std::vector<size_t> find_last_reads(const LoweredGraph& graph);

// The nodes [first, last) of a graph from `lower`, none of which may be control flow, as a part.
// `read_until` comes from find_last_reads.
GraphRange cut_range(const LoweredGraph& graph, const std::vector<size_t>& read_until, size_t first,
                     size_t last);

}  // namespace torch_ir
