// GraphSlicer: cuts ranges of nodes out of a graph, each a graph of its own.
//
// For SegmentedGraph, which replays the parts of a graph between nodes that can not be.
#pragma once

#include <cstddef>
#include <vector>

#include "torch_ir/executor/graph/lowered_graph.h"

namespace torch_ir {

struct GraphSlice {
  // It writes to the inputs that are marked so, and makes no copies of them first.
  LoweredGraph graph;
  // The values of the whole graph that its inputs and outputs are.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  // Those of `inputs` that nobody reads later.
  std::vector<ValueId> released;
  bool writes_inputs = false;
};

class GraphSlicer {
 public:
  // `graph` was made by `lower`, and outlives this.
  explicit GraphSlicer(const LoweredGraph& graph);

  // Nodes [first, last), none of which is control flow.
  GraphSlice slice(size_t first, size_t last) const;

 private:
  const LoweredGraph& graph_;
  // By value, the first node behind all that read it.
  std::vector<size_t> read_until_;
};

}  // namespace torch_ir
