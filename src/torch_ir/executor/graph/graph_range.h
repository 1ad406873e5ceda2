// GraphRange: nodes of a graph that run together, with what goes in and what comes out.
//
// The whole graph is one. RangeCutter makes the others, for SegmentedGraph, which replays the parts
// of a graph between nodes that cannot be.
#pragma once

#include <cstddef>
#include <vector>

#include "torch_ir/executor/graph/lowered_graph.h"

namespace torch_ir {

struct GraphRange {
  // Outlives the range.
  const LoweredGraph* graph;
  // Nodes [first, last).
  size_t first;
  size_t last;
  // Of a part, all that it reads and does not make: a constant only where it is written, as the run
  // has its own of that. A part writes to the inputs that are marked so; a run of the whole graph
  // copies them first.
  std::vector<GraphPort> inputs = {};
  std::vector<GraphPort> outputs = {};
  // Of a part, those of `inputs` that nobody reads later.
  std::vector<ValueId> released = {};
  bool is_whole = false;

  const LoweredValue& value(const GraphPort& port) const { return graph->values[port.value]; }
  bool writes_inputs() const;
};

GraphRange whole_range(const LoweredGraph& graph);

class RangeCutter {
 public:
  // `graph` was made by `lower`, and outlives this.
  explicit RangeCutter(const LoweredGraph& graph);

  // Nodes [first, last), none of which is control flow.
  GraphRange cut(size_t first, size_t last) const;

 private:
  const LoweredGraph& graph_;
  // By value, the first node behind all that read it.
  std::vector<size_t> read_until_;
};

}  // namespace torch_ir
