// lower: the passes of compile, from an IR to the graph that runs.
#pragma once

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/executor/graph/lowered_graph.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// As compile, whose arguments and errors these are.
LoweredGraph lower(const IR& ir, const StateDict& weights, const StateDict& constants,
                   const ExecutionOptions& options);

}  // namespace torch_ir
