// The calls of a model that was taken apart: each node's error alone, and what has accumulated.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;
using List = kainjow::mustache::list;

constexpr size_t kMostRows = 2000;

// The greatest difference of what `node` makes in the run of the whole graph.
std::string accumulated_text(const OpNode& node, const ModelResult& result,
                             const RunContext& context) {
  if (!result.nodes) return "";
  const NodeReport& report = *result.nodes;
  const auto detail = std::ranges::find(report.worst, node.name, &NodeDetail::node);
  if (detail != report.worst.end()) {
    return detail->comparison.mismatch.empty()
               ? difference_text(detail->comparison.max_diff, context)
               : "not comparable";
  }
  const auto is_it = [&](const NodeReport::Skipped& skipped) {
    return std::ranges::find(node.outputs, skipped.value, &TensorMeta::name) != node.outputs.end();
  };
  if (std::ranges::any_of(report.skipped, is_it)) return "not compared";
  if (!report.error.empty()) return "";
  // Only so many are kept.
  return report.worst.size() < kMaxNodeDetails ? "0" : "less than those listed above";
}

std::string alone_text(const ModelResult& result, const RunContext& context) {
  const std::optional<double> max_diff = difference_metrics(result).max_diff;
  return max_diff ? difference_text(*max_diff, context) : "";
}

}  // namespace

Data calls_section(const ModelResult& result, const std::vector<ModelResult>& cases,
                   const RunContext& context) {
  std::map<std::string, std::pair<const ModelResult*, const CaseOccurrence*>> by_node;
  for (const ModelResult& it : cases) {
    for (const CaseOccurrence& occurrence : it.call->occurrences) {
      if (occurrence.model == result.name) by_node[occurrence.node] = {&it, &occurrence};
    }
  }
  Data data;
  if (by_node.empty() || !result.graph) return data;
  size_t num_passed = 0;
  for (const auto& [node, call] : by_node) num_passed += call.first->passed() ? 1 : 0;
  List rows;
  for (const OpNode& node : result.graph->nodes) {
    const auto call = by_node.find(node.name);
    if (call == by_node.end() || rows.size() == kMostRows) continue;
    const auto& [alone, occurrence] = call->second;
    Data row;
    row.set("node", code_cell(node.name));
    row.set("op", code_cell(node.op_type));
    row.set("where",
            text_cell(std::string(trimmed(occurrence->module + " " + occurrence->source))));
    row.set("status", std::string(alone->passed()    ? "✅ "
                                  : alone->is_good() ? "– "
                                                     : "❌ ") +
                          std::string(outcome_name(*alone)));
    row.set("alone", alone_text(*alone, context));
    row.set("accumulated", accumulated_text(node, result, context));
    rows.push_back(row);
  }
  data.set(
      "summary",
      fmt::format("{} of {} pass alone, given what the model computes before them. Accumulated "
                  "is the difference in the run of the whole graph.",
                  num_passed, counted(static_cast<int64_t>(by_node.size()), "call")));
  data.set("rows", rows);
  return data;
}

}  // namespace torch_ir
