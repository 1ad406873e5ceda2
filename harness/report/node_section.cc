#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "harness/report/run_text.h"
#include "harness/report/sections.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;
using List = kainjow::mustache::list;

std::string divergence_text(const ValueDetail& detail) {
  const TensorComparison& c = detail.comparison;
  std::string text = fmt::format("**The first difference** is at {} ({}",
                                 escape_markdown(place_text(detail)), code_span(detail.op_type));
  if (!detail.source.empty()) text += ", " + code_span(detail.source);
  text += "): " + escape_markdown(cause_text(detail)) + ".";
  if (detail.own_error) {
    text += " By itself, computed from the values that the run returned before it, it has " +
            escape_markdown(detail.own_error->problem) + ".";
  }
  if (!c.mismatch.empty() || c.worst_actual.empty()) return text;
  return text + fmt::format(
                    " Max abs. error {}, {} elements outside the tolerance; at `[{}]` it gives {}, "
                    "expected {}.",
                    short_number(c.max_diff), share_text(c.num_mismatched, c.num_elements),
                    fmt::join(c.worst_index, ", "), code_span(c.worst_actual),
                    code_span(c.worst_expected));
}

List paragraphs(const Result& result) {
  const NodeReport& report = *result.nodes;
  const std::optional<IR>& graph = result.graph;
  List texts;
  if (!report.error.empty()) {
    texts.push_back(Data(
        escape_markdown(as_sentence("The comparison could not be completed: " + report.error))));
  }
  if (report.first_divergence) {
    const ValueDetail& first = report.first_divergence->node;
    texts.push_back(Data(divergence_text(first)));
    if (const std::string cut = cut_command(result); !cut.empty()) {
      const std::string node = shell_word(first.node);
      texts.push_back(Data("To cut it out, or another node by its name: " +
                           code_span(fmt::format("{} --node {} -o {}", cut, node, node)) + "."));
    }
  }
  std::set<std::string> faulty;
  for (const ValueDetail& detail : report.worst) {
    if (detail.own_error && !detail.own_error->problem.empty()) faulty.insert(detail.node);
  }
  const std::string operators = graph ? faulty_operators(*graph, faulty) : "";
  if (!operators.empty()) texts.push_back(Data(operators));
  if (!report.note.empty()) texts.push_back(Data(escape_markdown(as_sentence(report.note))));
  return texts;
}

void add_statistics(const std::string& role, const TensorStatistics& it, Table& table) {
  // Inputs that were not returned have no dtype and no figures.
  if (role == "input" && it.dtype.empty())
    return table.add({role, code_cell(it.name), "not returned"});
  table.add({role, code_cell(it.name), code_cell(shape_text(it.shape)), code_cell(it.dtype),
             short_number(it.min), short_number(it.max), short_number(it.mean),
             short_number(it.standard_deviation), it.num_nan, it.num_inf});
}

Table statistics_table(const std::optional<Divergence>& divergence) {
  Table table("lllrrrrrrr", {"", "Value", "Shape", "Dtype", "Min", "Max", "Mean",
                             "Standard deviation", "NaN", "Infinite"});
  if (!divergence) return table;
  for (const TensorStatistics& input : divergence->inputs) add_statistics("input", input, table);
  add_statistics("**actual**", divergence->actual, table);
  add_statistics("**expected**", divergence->expected, table);
  return table;
}

Table reasons_table(const std::vector<NodeReport::Skipped>& values) {
  Table table("ll", {"Value", "Reason"});
  for (const NodeReport::Skipped& skipped : values) {
    table.add({code_cell(skipped.value), text_cell(skipped.reason)});
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

std::string nodes_summary(const NodeReport& report,
                          const std::function<std::string(const std::string&)>& code) {
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

SectionData node_section(const ModelPage& page) {
  if (!page.result.nodes) return std::nullopt;
  const NodeReport& report = *page.result.nodes;
  Data data;
  data.set("summary", nodes_summary(report, code_span));
  data.set("paragraphs", paragraphs(page.result));
  set_some(data, "statistics", statistics_table(report.first_divergence));
  List lists;
  const auto add = [&](const std::string& summary, const Table& table) {
    if (table.num_rows() == 0) return;
    Data list;
    list.set("summary", summary);
    list.set("table", table.markdown());
    lists.push_back(list);
  };
  add(part_text(report.exonerated.size(), report.num_exonerated) +
          " outside the tolerance, read by nodes that are right",
      values_table(report.exonerated));
  add("Not judged: " + part_text(report.not_judged.size(), report.num_not_judged),
      reasons_table(report.not_judged));
  add("Not compared: " + part_text(report.skipped.size(), report.num_skipped),
      reasons_table(report.skipped));
  data.set("lists", lists);
  return data;
}

SectionData reproducer_section(const ModelPage& page) {
  const Result& result = page.result;
  if (!result.reproducer) return std::nullopt;
  const Reproducer& reproducer = *result.reproducer;
  const std::string folder = "repro/" + result.name + "/";
  const std::string nodes = counted(reproducer.num_nodes, "node");
  const std::string trial = escape_markdown(reproducer.trial);
  const std::string link =
      fmt::format("It is in [{}]({}):", code_span(folder), link_target(folder));
  const std::string where =
      reproducer.first_node == reproducer.last_node
          ? code_span(reproducer.first_node)
          : "from " + code_span(reproducer.first_node) + " to " + code_span(reproducer.last_node);
  const std::string text =
      result.is_reproduced_by_whole_graph()
          ? fmt::format(
                "The reproducer is the whole graph, {}, with the inputs of the trial “{}”. {}",
                nodes, trial, link)
          : fmt::format(
                "The smallest part of the graph known to fail by itself has {}, {}. Its inputs are "
                "the values that the model computes before it in the trial “{}”. {}",
                nodes, where, trial, link);
  Data data;
  const bool has_actual = result.failure && result.failure->kind == FailureKind::kOutputMismatch &&
                          !result.is_reproduced_by_whole_graph();
  data.set("text", text);
  set_some(data, "actual", has_actual ? "`actual.safetensors` has the wrong outputs." : "");
  data.set("message", code_block(reproducer.message));
  data.set("command", code_block(reproducer.command, "sh"));
  data.set("hint", reproducer_hint(result.name, page.context, code_span));
  return data;
}

}  // namespace torch_ir
