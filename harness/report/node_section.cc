#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/report/page_text.h"
#include "harness/report/run_text.h"

namespace torch_ir {
namespace {

std::string divergence_text(const ValueDetail& detail, const Style& style) {
  const TensorComparison& c = detail.comparison;
  std::string text = fmt::format("{} is at {} ({}", style.strong("The first difference"),
                                 style.text(place_text(detail)), style.code(detail.op_type));
  if (!detail.source.empty()) text += ", " + style.code(detail.source);
  text += "): " + style.text(cause_text(detail)) + ".";
  if (detail.own_error) {
    text += " By itself, computed from the values that the run returned before it, it has " +
            style.text(detail.own_error->problem) + ".";
  }
  if (!c.mismatch.empty() || c.worst_actual.empty()) return text;
  return text + fmt::format(
                    " Max abs. error {}, {} elements outside the tolerance; at {} it gives {}, "
                    "expected {}.",
                    short_number(c.max_diff), share_text(c.num_mismatched, c.num_elements),
                    style.code(fmt::format("[{}]", fmt::join(c.worst_index, ", "))),
                    style.code(c.worst_actual), style.code(c.worst_expected));
}

void add_statistics(const Cell& role, const TensorStatistics& it, Table& table) {
  // Inputs that were not returned have no dtype and no figures.
  if (role.shown == "input" && it.dtype.empty())
    return table.add({role, Cell::code(it.name), "not returned"});
  table.add({role, Cell::code(it.name), Cell::code(shape_text(it.shape)), Cell::code(it.dtype),
             short_number(it.min), short_number(it.max), short_number(it.mean),
             short_number(it.standard_deviation), it.num_nan, it.num_inf});
}

Table reasons_table(const std::vector<NodeReport::Skipped>& values) {
  Table table("ll", {"Value", "Reason"});
  for (const NodeReport::Skipped& skipped : values) {
    table.add({Cell::code(skipped.value), Cell::text(skipped.reason)});
  }
  return table;
}

// ", all within the tolerance", ", 1 outside the tolerance" or, if other rules judged values,
// ": 3 within the tolerance, 2 wrong, 1 not judged".
std::string rules_text(const NodeReport& report) {
  const int64_t num_others = report.num_right_locally + report.num_not_judged;
  if (num_others + report.num_mismatched == 0) return ", all within the tolerance";
  const auto number = [](int64_t count) { return with_thousands_separators(count); };
  if (num_others == 0)
    return fmt::format(", {} outside the tolerance", number(report.num_mismatched));
  std::string text = fmt::format(": {} within the tolerance",
                                 number(report.num_compared - num_others - report.num_mismatched));
  for (const auto& [count, rule] :
       {std::pair(report.num_right_locally,
                  "right for the values that the run returned before them"),
        {report.num_mismatched, "wrong"},
        {report.num_not_judged, "not judged"}}) {
    if (count > 0) text += fmt::format(", {} {}", number(count), rule);
  }
  return text;
}

std::string part_text(size_t shown, int64_t all) {
  const std::string text = counted(all, "value");
  if (static_cast<int64_t>(shown) == all) return text;
  return fmt::format("the first {} of {}", shown, text);
}

}  // namespace

std::string nodes_summary(const NodeReport& report, const Format& code) {
  if (report.num_compared == 0) {
    if (!report.error.empty()) return "No value could be compared.";
    if (report.skipped.empty())
      return "No value was compared: the graph has no values other than its inputs.";
    const NodeReport::Skipped& first = report.skipped.front();
    return fmt::format("{} could not be compared. The first, {}: {}.",
                       counted(report.num_skipped, "value"), code(first.value), first.reason);
  }
  std::string text = counted(report.num_compared, "value") + " compared with those of the model" +
                     rules_text(report) + ".";
  if (report.num_exonerated > 0) {
    const bool has_list = report.num_right_locally + report.num_not_judged > 0;
    text += fmt::format(" Of {}, {} no harm: the nodes that read {} are right.",
                        has_list ? "the wrong ones" : "these",
                        with_thousands_separators(report.num_exonerated) +
                            (report.num_exonerated == 1 ? " does" : " do"),
                        report.num_exonerated == 1 ? "it" : "them");
  }
  if (report.num_other_choices > 0) {
    text += fmt::format(" {} chose otherwise between values that are closer than their errors.",
                        report.num_other_choices == 1
                            ? "1 index"
                            : with_thousands_separators(report.num_other_choices) + " indices");
  }
  if (report.num_skipped > 0) {
    text += " " + counted(report.num_skipped, "value") + " could not be compared.";
  }
  if (const auto num_groups = std::ssize(report.groups); num_groups > 0) {
    const bool is_one = num_groups == 1;
    text += fmt::format(" {} of nodes {} computed at once; the {} inside {} need not be returned.",
                        counted(num_groups, "group"), is_one ? "is" : "are",
                        counted(report.num_inside, "value"), is_one ? "it" : "them");
  }
  const std::string handed_back = handed_back_text(report, code);
  return handed_back.empty() ? text : text + " " + as_sentence(handed_back);
}

std::vector<std::string> nodes_paragraphs(const Result& result, const Style& style) {
  const NodeReport& report = *result.nodes;
  std::vector<std::string> texts;
  if (!report.error.empty()) {
    texts.push_back(
        style.text(as_sentence("The comparison could not be completed: " + report.error)));
  }
  if (report.first_divergence) {
    texts.push_back(divergence_text(report.first_divergence->node, style));
  }
  std::map<std::string, std::string> faulty;
  for (const ValueDetail& detail : report.worst) {
    if (detail.own_error && !detail.own_error->problem.empty())
      faulty[detail.node] = detail.op_type;
  }
  texts.push_back(faulty_operators(result, faulty, style.code));
  texts.push_back(style.text(as_sentence(report.note)));
  std::erase(texts, "");
  return texts;
}

Table statistics_table(const std::optional<Divergence>& divergence) {
  Table table("llllrrrrrr", {"", "Value", "Shape", "Dtype", "Min", "Max", "Mean",
                             "Standard deviation", "NaN", "Infinite"});
  if (!divergence) return table;
  for (const TensorStatistics& input : divergence->inputs) add_statistics("input", input, table);
  add_statistics({"**actual**", "actual"}, divergence->actual, table);
  add_statistics({"**expected**", "expected"}, divergence->expected, table);
  return table;
}

std::vector<std::pair<std::string, Table>> node_lists(const NodeReport& report) {
  std::vector<std::pair<std::string, Table>> lists = {
      {part_text(report.exonerated.size(), report.num_exonerated) +
           " outside the tolerance, read by nodes that are right",
       values_table(report.exonerated)},
      {"Not judged: " + part_text(report.not_judged.size(), report.num_not_judged),
       reasons_table(report.not_judged)},
      {"Not compared: " + part_text(report.skipped.size(), report.num_skipped),
       reasons_table(report.skipped)}};
  std::erase_if(lists, [](const auto& list) { return list.second.num_rows() == 0; });
  return lists;
}

std::string node_section(const Result& result) {
  if (!result.nodes) return "";
  const NodeReport& report = *result.nodes;
  std::vector<std::string> blocks = nodes_paragraphs(result, kMarkdown);
  blocks.insert(blocks.begin(), nodes_summary(report, code_span));
  if (const std::string cut = cut_command(result); report.first_divergence && !cut.empty()) {
    const std::string node = shell_word(report.first_divergence->node.node);
    blocks.push_back("To cut it out, or another node by its name: " +
                     code_span(fmt::format("{} --node {} -o {}", cut, node, node)) + ".");
  }
  blocks.push_back(statistics_table(report.first_divergence).markdown());
  for (const auto& [summary, table] : node_lists(report)) {
    blocks.push_back(folded(summary, table.markdown()));
  }
  return section("## Node by node", blocks);
}

std::string reproducer_text(const Result& result, const Style& style) {
  const Reproducer& reproducer = *result.reproducer;
  const std::string nodes = counted(reproducer.num_nodes, "node");
  const std::string trial = style.text(reproducer.trial);
  if (result.is_reproduced_by_whole_graph()) {
    return fmt::format("The reproducer is the whole graph, {}, with the inputs of the trial “{}”.",
                       nodes, trial);
  }
  const std::string where =
      reproducer.first_node == reproducer.last_node
          ? style.code(reproducer.first_node)
          : "from " + style.code(reproducer.first_node) + " to " + style.code(reproducer.last_node);
  return fmt::format(
      "The smallest part of the graph known to fail by itself has {}, {}. Its inputs are the "
      "values that the model computes before it in the trial “{}”.",
      nodes, where, trial);
}

std::string reproducer_section(const Result& result, const RunContext& context) {
  if (!result.reproducer) return "";
  const std::string folder = "repro/" + result.name + "/";
  const bool has_actual = result.failure && result.failure->kind == FailureKind::kOutputMismatch &&
                          !result.is_reproduced_by_whole_graph();
  return section("## Reproducer",
                 {reproducer_text(result, kMarkdown) +
                      fmt::format(" It is in [{}]({}):", code_span(folder), link_target(folder)),
                  code_block(result.reproducer->message),
                  std::string(has_actual ? "`actual.safetensors` has the wrong outputs. " : "") +
                      "To see the failure, run this in that folder:",
                  code_block(result.reproducer->command, "sh"),
                  reproducer_hint(result.name, context, code_span)});
}

}  // namespace torch_ir
