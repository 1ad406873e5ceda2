#include <fmt/format.h>

#include "harness/report/page_text.h"
#include "harness/report/run_text.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxChangedNodes = 50;

std::string changes_cell(const std::vector<FigureChange>& changes) {
  std::string text;
  for (const std::string& line : change_lines({.changes = changes})) {
    text += (text.empty() ? "" : "<br>") + text_cell(line);
  }
  return text;
}

std::string changed_nodes_text(const std::vector<NodeChange>& nodes) {
  Table table("rllll", {"#", "Node", "Operator", "Module", "Changes"});
  for (const auto& [node, changes] : nodes) {
    if (table.num_rows() == kMaxChangedNodes) break;
    table.add({std::to_string(*node.index), code_cell(node.node), code_cell(node.op_type),
               code_cell(node.module), changes_cell(changes)});
  }
  if (nodes.size() <= kMaxChangedNodes) return table.markdown();
  return table.markdown() + fmt::format("\n\n... and {} more.", nodes.size() - kMaxChangedNodes);
}

Table changed_modules_table(const std::vector<NodeChange>& nodes) {
  Table table("lrrrr", {"Module", "Nodes that changed", "Largest difference between the values",
                        "Least SNR (dB)", "Least cosine similarity"});
  for (const auto& [module, num_nodes, metrics] : by_module(nodes)) {
    table.add({module.empty() ? "other nodes" : code_cell(module), num_nodes,
               short_number(metrics.max_diff), short_number(metrics.signal_to_noise),
               metrics.cosine_similarity ? fmt::format("{:.9g}", *metrics.cosine_similarity) : ""});
  }
  return table;
}

}  // namespace

std::string changes_text(const BaselineComparison& comparison, const std::string& baseline) {
  Table table("lll", {"Model", "", "Changes"});
  for (const ModelChange& change : comparison.models) {
    table.add({text_cell(change.model), trend_name(change.trend), changes_cell(change.changes)});
  }
  std::string text =
      "Compared with " + code_span(baseline) + (table.num_rows() == 0 ? ": no changes." : ":");
  for (const std::string& note : baseline_notes(comparison)) {
    text += "\n\n" + escape_markdown(note);
  }
  return table.num_rows() == 0 ? text : text + "\n\n" + table.markdown();
}

std::string render_comparison(const RunRecord& old, const RunRecord& now,
                              const BaselineComparison& comparison,
                              const std::pair<std::string, std::string>& names) {
  Table verdicts("lll", {"", "Reports", "Verdict"});
  const auto add = [&](const std::string& name, const std::string& folder, const RunRecord& run) {
    verdicts.add({text_cell(name), code_cell(folder), verdict_text(run.results, run.cases)});
  };
  add(names.first, now.context.baseline, old);
  add(names.second, now.context.output, now);
  std::string page = fmt::format("# Comparison\n\n{}\n\n## Changes\n\n{}\n", verdicts.markdown(),
                                 changes_text(comparison, now.context.baseline));
  for (const Result& result : now.results) {
    const auto changes = comparison.nodes.find(result.name);
    if (changes == comparison.nodes.end() || changes->second.nodes.empty()) continue;
    const std::vector<NodeChange>& nodes = changes->second.nodes;
    page += fmt::format(
        "\n## Nodes of {}\n\n{} Values are those of the trial that failed, or "
        "else of the first; errors are those against the model in the worst one.\n\n{}\n\n{}\n",
        escape_markdown(result.name), as_sentence(values_text(changes->second)),
        changed_modules_table(nodes).markdown(), changed_nodes_text(nodes));
  }
  return page;
}

}  // namespace torch_ir
