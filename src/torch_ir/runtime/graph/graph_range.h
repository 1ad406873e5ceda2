// GraphRange: nodes of a graph that run together, with their inputs and outputs.
//
// RangeCutter cuts the parts that SegmentedGraph replays.
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
  bool writes_inputs() const;
};

GraphRange whole_range(const LoweredGraph& graph);

class RangeCutter {
 public:
  // `graph` comes from `lower` and outlives this.
  explicit RangeCutter(const LoweredGraph& graph);

  // None of the nodes [first, last) may be control flow.
  GraphRange cut(size_t first, size_t last) const;

 private:
  const LoweredGraph& graph_;
  std::vector<size_t> read_until_;
};

}  // namespace torch_ir
