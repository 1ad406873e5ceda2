#include "torch_ir/executor/graph/fusion.h"

#include <algorithm>

#include "torch_ir/executor/graph/alias_analysis.h"

namespace torch_ir {

void fuse(PlanGraph& graph) {
  const AliasAnalysis aliases = analyze_aliases(graph);
  const bool writes = std::ranges::find(aliases.is_written, true) != aliases.is_written.end();
  if (writes || !graph.device.is_cpu()) return;
  fold_batch_norms(graph);
  pack_convolutions(graph);
  transpose_linear_weights(graph);
}

}  // namespace torch_ir
