#include "torch_ir/exporter/pt2/known_faults.h"

#include <algorithm>

namespace torch_ir {
namespace {

// "aten.lstm.input" returns (output, h_n, c_n); its argument hx is [h_0, c_0].
void repair_lstm_states(const ExportedNode& node, ExportedGraph& graph) {
  const auto argument = std::ranges::find(node.arguments, "hx", &ExportedArgument::name);
  if (argument == node.arguments.end()) return;
  const auto* states = std::get_if<ValueList>(&argument->value);
  if (states == nullptr) return;
  for (size_t i = 0; i < states->size() && i + 1 < node.outputs.size(); ++i) {
    const auto initial = (*states)[i] ? graph.values.find((*states)[i]->name) : graph.values.end();
    const auto final = graph.values.find(node.outputs[i + 1]);
    if (initial == graph.values.end() || final == graph.values.end()) continue;
    final->second.shape = initial->second.shape;
    final->second.symbolic_shape = initial->second.symbolic_shape;
  }
}

}  // namespace

void repair_known_faults(ExportedGraph& graph) {
  for (ExportedNode& node : graph.nodes) {
    if (node.target == "aten.lstm.input") repair_lstm_states(node, graph);
    for (ExportedGraph& inner : node.graphs) repair_known_faults(inner);
  }
}

}  // namespace torch_ir
