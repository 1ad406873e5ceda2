// trace_graph: the trace of a graph for inputs of one layout, by running it once.
#pragma once

#include <optional>
#include <vector>

#include "torch_ir/executor/graph/lowered_graph.h"
#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

struct TraceOptions {
  bool fold_constants = true;
  // Whether to throw ExecutionError where an output of a node is not what the IR says.
  bool is_checked = false;
};

// Nothing where the graph can not be replayed: its sizes depend on data, it draws random numbers,
// it writes to inputs or weights, or runs executors or control flow. Throws ExecutionError as
// run_graph does.
std::optional<Trace> trace_graph(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs,
                                 const TraceOptions& options);

}  // namespace torch_ir
