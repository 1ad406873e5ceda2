#include "torch_ir/analysis/summary.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "torch_ir/analysis/weights.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"

namespace torch_ir {
namespace {

using Counts = std::vector<std::pair<std::string, int64_t>>;

void count_operators(const Graph& graph, Counts& counts,
                     std::unordered_map<std::string_view, size_t>& places) {
  for (const Node& node : graph.nodes) {
    const auto [place, is_new] = places.try_emplace(node.target, counts.size());
    if (is_new) counts.emplace_back(node.target, 0);
    ++counts[place->second].second;
    for (const Graph& inner : node.graphs) count_operators(inner, counts, places);
  }
}

std::optional<int64_t> count_buffer_elements(const Program& program) {
  std::unordered_set<ValueId> buffers;
  bool is_known = true;
  for_each_placeholder(program, [&](const GraphInput& input, ValueId weight) {
    const std::string kind = program[input.value].name.substr(0, 2);
    if (kind == "b_") buffers.insert(weight);
    is_known = is_known && (kind == "b_" || kind == "p_" || kind == "c_");
  });
  int64_t count = 0;
  for (const ValueId buffer : buffers) count += num_elements(program[buffer]);
  return is_known ? std::optional(count) : std::nullopt;
}

}  // namespace

Counts count_operators(const Graph& graph) {
  Counts counts;
  std::unordered_map<std::string_view, size_t> places;
  count_operators(graph, counts, places);
  std::ranges::stable_sort(counts, std::ranges::greater(), &Counts::value_type::second);
  return counts;
}

IRSummary summarize(const Program& program) {
  const GraphAnalyzer analyzer(program);
  IRSummary summary;
  summary.model_name = program.model_name;
  summary.num_nodes = std::ssize(program.nodes);
  for (const Node& node : program.nodes) summary.num_edges += std::ssize(node.inputs());
  summary.inputs = analyzer.get_graph_inputs();
  summary.outputs = analyzer.get_graph_outputs();
  summary.num_inputs = std::ssize(summary.inputs);
  summary.num_outputs = std::ssize(summary.outputs);
  for_each_weight(program, [&](const GraphInput& weight) {
    ++summary.num_weights;
    summary.total_parameters += num_elements(program[weight.value]);
  });
  summary.buffer_elements = count_buffer_elements(program);
  summary.op_distribution = count_operators(program);
  return summary;
}

IRSummary summarize(const IR& ir) { return summarize(resolve(ir, GraphChecks::kStructure)); }

}  // namespace torch_ir
