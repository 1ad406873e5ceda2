#include "torch_ir/analysis/summary.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace torch_ir {
namespace {

using Counts = std::vector<std::pair<std::string, int64_t>>;

void count_operators(const std::vector<OpNode>& nodes, Counts& counts,
                     std::unordered_map<std::string_view, size_t>& places) {
  for (const OpNode& node : nodes) {
    const auto [place, is_new] = places.try_emplace(node.op_type, counts.size());
    if (is_new) counts.emplace_back(node.op_type, 0);
    ++counts[place->second].second;
    for (const IRGraph& graph : node.graphs) count_operators(graph.nodes, counts, places);
  }
}

std::optional<int64_t> count_buffer_elements(const IR& ir) {
  std::unordered_set<std::string_view> buffers;
  for (const auto& item : ir.weight_name_mapping) {
    const std::string& placeholder = item.key();
    if (placeholder.starts_with("b_")) {
      buffers.insert(item.value());
    } else if (!placeholder.starts_with("p_") && !placeholder.starts_with("c_")) {
      return std::nullopt;
    }
  }
  int64_t count = 0;
  for (const TensorMeta& weight : ir.weights) {
    if (buffers.contains(weight.name)) count += num_elements(weight);
  }
  return count;
}

}  // namespace

std::vector<std::pair<std::string, int64_t>> count_operators(const IRGraph& graph) {
  Counts counts;
  std::unordered_map<std::string_view, size_t> places;
  count_operators(graph.nodes, counts, places);
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return counts;
}

IRSummary summarize(const IR& ir) {
  IRSummary summary;
  summary.model_name = ir.model_name;
  summary.num_nodes = static_cast<int64_t>(ir.nodes.size());
  for (const OpNode& node : ir.nodes) {
    summary.num_edges += static_cast<int64_t>(node.inputs.size());
  }
  summary.num_inputs = static_cast<int64_t>(ir.graph_inputs.size());
  summary.num_outputs = static_cast<int64_t>(ir.graph_outputs.size());
  summary.num_weights = static_cast<int64_t>(ir.weights.size());
  for (const TensorMeta& weight : ir.weights) summary.total_parameters += num_elements(weight);
  summary.buffer_elements = count_buffer_elements(ir);
  summary.inputs = ir.graph_inputs;
  summary.outputs = ir.graph_outputs;
  summary.op_distribution = count_operators(ir);
  return summary;
}

}  // namespace torch_ir
