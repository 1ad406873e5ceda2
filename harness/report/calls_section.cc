// The calls of a model that was taken apart: each node's error alone, and what has accumulated.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "harness/report/table.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;

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
  Table table("llllrr",
              {"Node", "Operator", "Where", "Alone", "Max diff alone", "Max diff accumulated"});
  for (const OpNode& node : result.graph->nodes) {
    const auto call = by_node.find(node.name);
    if (call == by_node.end() || table.num_rows() == kMostRows) continue;
    const auto& [alone, occurrence] = call->second;
    table.add({code_cell(node.name), code_cell(node.op_type),
               text_cell(trimmed(occurrence->module + " " + occurrence->source)),
               fmt::format("{} {}", case_mark(*alone), outcome_name(*alone)),
               max_diff_text(*alone, context), accumulated_text(node, result, context)});
  }
  data.set(
      "summary",
      fmt::format("{} of {} pass alone, given what the model computes before them. Accumulated "
                  "is the difference in the run of the whole graph.",
                  num_passed, counted(std::ssize(by_node), "call")));
  data.set("table", table.markdown());
  return data;
}

}  // namespace torch_ir
