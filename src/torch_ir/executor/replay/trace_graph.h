// trace_graph: the trace of a graph, or of a part of one, for inputs of one layout, by running it
// once.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "torch_ir/executor/graph/graph_range.h"
#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

struct TraceOptions {
  bool fold_constants = true;
  // Where given, outputs of nodes that are not what the IR says are errors.
  SymbolValues* symbols = nullptr;
};

// `inputs` are one for each input of the range, numbers as tensors; they stay as they are. Throws
// TraceRefused (tracer.h) where it cannot be replayed, and ExecutionError as a run does.
Trace trace_graph(const GraphRange& range, const std::vector<at::Tensor>& inputs,
                  const TraceOptions& options);

}  // namespace torch_ir
