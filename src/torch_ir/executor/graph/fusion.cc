#include "torch_ir/executor/graph/fusion.h"

#include <algorithm>

#include "torch_ir/executor/graph/alias_analysis.h"
#include "torch_ir/executor/graph/graph_editor.h"

namespace torch_ir {
namespace {

// From as many rows on, measured.
constexpr int64_t kMinRows = 32;

int64_t rows_of(const TensorMeta& input) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < input.shape.size(); ++i) rows *= input.shape[i];
  return rows;
}

}  // namespace

void transpose_linear_weights(LoweredGraph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.num_nodes(); ++i) {
    if (!editor.calls(i, "aten.linear.default")) continue;
    const at::Tensor weight = editor.constant(i, "weight");
    const TensorMeta* input = editor.meta(i, "input");
    const bool gains = weight.defined() && weight.dim() == 2 && weight.is_contiguous() &&
                       weight.scalar_type() == at::kFloat && input != nullptr &&
                       rows_of(*input) >= kMinRows;
    // The same values; aten.linear transposes it back for addmm.
    if (gains) editor.set_argument(i, "weight", editor.add_constant(weight.t().contiguous().t()));
  }
}

void fuse(LoweredGraph& graph, const ExecutionOptions& options) {
  const AliasAnalysis aliases = analyze_aliases(graph);
  const bool writes = std::ranges::find(aliases.is_written, true) != aliases.is_written.end();
  if (writes || !graph.device.is_cpu()) return;
  fold_batch_norms(graph);
  if (fuses_traces(options)) return;
  pack_convolutions(graph);
  transpose_linear_weights(graph);
}

}  // namespace torch_ir
