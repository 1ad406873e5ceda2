#include "harness/results/graph_summary.h"

#include <c10/util/hash.h>

#include "torch_ir/ir/json.h"

namespace torch_ir {

std::string graph_fingerprint(const IR& graph) {
  IR same = graph;
  same.pytorch_version.clear();
  same.constants = StateDict();
  return c10::sha1(serialize_ir(same)).str();
}

GraphSummary summarize_graph(const IR& graph) {
  return {.figures = summarize(graph), .fingerprint = graph_fingerprint(graph)};
}

}  // namespace torch_ir
