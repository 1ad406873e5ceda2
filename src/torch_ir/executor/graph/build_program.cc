#include "torch_ir/executor/graph/build_program.h"

#include "torch_ir/executor/graph/bind_weights.h"
#include "torch_ir/executor/graph/fusion.h"
#include "torch_ir/executor/graph/graph.h"
#include "torch_ir/ir/validate.h"

namespace torch_ir {

Program build_program(const IR& ir, const StateDict& weights, const StateDict& constants,
                      const ExecutionOptions& options, UnreadResults unread) {
  validate_ir(ir);
  const BoundWeights bound = bind_weights(ir, weights, constants, options.device);
  PlanGraph graph = build_graph(ir, bound);
  if (options.optimization == Optimization::kFast) fuse(graph);
  return lower(graph, ir.range_constraints, unread);
}

}  // namespace torch_ir
