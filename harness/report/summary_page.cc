#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "harness/report/pages.h"
#include "harness/report/run_text.h"
#include "harness/report/table.h"
#include "harness/results/result.h"
#include "harness/results/run_context.h"
#include "templates/templates.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;
using List = kainjow::mustache::list;
using Results = std::vector<ModelResult>;

std::string code_names(const std::vector<std::string>& names) { return code_list(names, ", "); }

std::string link(const std::string& name) {
  return fmt::format("[{}]({}.md)", text_cell(name), link_target(name));
}

std::string status_pie(const Results& results) {
  std::string pie = "pie showData title Models by status\n";
  for (const Status status : kStatuses) {
    if (const int64_t some = count_status(results, status)) {
      pie += fmt::format("    \"{}\" : {}\n", status_name(status), some);
    }
  }
  return code_block(pie, "mermaid");
}

// What the good ones of a run are: all of it ends with the same stage.
Status passed_status(const Results& results) {
  return count_status(results, Status::kExtracted) == 0 ? Status::kPassed : Status::kExtracted;
}

const char* passed_name(Status status) {
  return status == Status::kPassed ? "Passed" : "Extracted";
}

// Why a model counts as bad.
std::string bad_news(const ModelResult& result) {
  if (result.status() == Status::kUnexpectedPass) {
    return fmt::format("It passes, and is expected to fail ({}: {}).",
                       failure_kind_name(result.expected_failure->kind),
                       text_cell(result.expected_failure->reason));
  }
  return text_cell(headline(result.failure->message));
}

// Of the models for which `is_wanted` holds, with what `reason` says of them.
template <class Predicate, class Reason>
Table failures_table(const Results& results, const char* head, const Predicate& is_wanted,
                     const Reason& reason) {
  Table table("llll", {"Model", "Kind", "Stage", head});
  for (const ModelResult& result : results) {
    if (!is_wanted(result)) continue;
    const auto& failure = result.failure;
    table.add({link(result.name),
               failure ? failure_kind_name(failure->kind) : status_name(result.status()),
               failure ? stage_name(failure->stage) : "", reason(result)});
  }
  return table;
}

Data changes_data(const ChangesSection& changes) {
  Table table("lll", {"Model", "", "What has changed"});
  for (const ChangesSection::Row& change : changes.rows) {
    std::string text;
    for (const std::string& line : change.changes) {
      text += (text.empty() ? "" : "<br>") + text_cell(line);
    }
    table.add({text_cell(change.model), text_cell(change.trend), text});
  }
  List notes;
  for (const std::string& note : changes.notes) notes.push_back(Data(escape_markdown(note)));
  Data data;
  data.set("summary", "Compared with " + code_span(changes.baseline) +
                          (changes.rows.empty() ? ": nothing has changed." : ":"));
  data.set("notes", notes);
  set_some(data, "table", table);
  return data;
}

std::string status_cell(Status status) {
  std::string name(status_name(status));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string cell = std::string(status_mark(status)) + " " + name;
  // On one line, whatever the width of the column.
  for (size_t at = cell.find(' '); at != std::string::npos; at = cell.find(' ')) {
    cell.replace(at, 1, "\u00a0");
  }
  return cell;
}

void add_model(const ModelResult& result, const RunContext& context, Table& table) {
  std::vector<Cell> cells = {link(result.name), status_cell(result.status()),
                             code_list(result.categories, " ")};
  if (const auto summary = result.graph_summary()) {
    const IRSummary& figures = summary->figures;
    for (const int64_t figure :
         {figures.num_nodes, figures.num_edges, figures.num_weights, figures.total_parameters}) {
      cells.push_back(with_thousands_separators(figure));
    }
    const CostTotals& costs = summary->costs;
    cells.push_back((costs.not_counted.empty() ? "" : "≥ ") +
                    with_thousands_separators(costs.multiply_adds));
  } else {
    cells.resize(cells.size() + 5, "");
  }
  const DifferenceMetrics figures = difference_metrics(result);
  const auto& smallest = figures.smallest_passing_tolerance;
  const auto factor = worst_factor(result);
  cells.push_back(figures.max_diff ? difference_text(*figures.max_diff, context) : "");
  cells.push_back(smallest ? tolerance_figure(*smallest, context) : "");
  cells.push_back(factor ? factor_text(*factor, figures.max_diff.value_or(0), context) : "");
  table.add(cells);
}

std::string models_table(const Results& results, const RunContext& context) {
  Table table("lllrrrrrrrr",
              {"Model", "Status", "Categories", "Nodes", "Edges", "Weights", "Parameters",
               "Multiply-adds", "Max&nbsp;diff", "Passes&nbsp;from", "Error&nbsp;factor"});
  for (const ModelResult& result : results) add_model(result, context, table);
  return table.markdown();
}

std::string categories_table(const Results& results) {
  std::map<std::string, std::map<Status, int64_t>> counts;
  for (const ModelResult& result : results) {
    for (const std::string& category : result.categories) ++counts[category][result.status()];
  }
  const Status passed = passed_status(results);
  Table table("lrrrrr", {"Category", "Models", passed_name(passed), "Failed", "Expected failures",
                         "Unexpected passes"});
  for (auto& [category, by_status] : counts) {
    int64_t num_models = 0;
    for (const auto& [status, count] : by_status) num_models += count;
    std::vector<Cell> cells = {code_cell(category), with_thousands_separators(num_models)};
    for (const Status status :
         {passed, Status::kFailed, Status::kExpectedFailure, Status::kUnexpectedPass}) {
      cells.push_back(with_thousands_separators(by_status[status]));
    }
    table.add(cells);
  }
  return table.markdown();
}

std::string counts_table(const Results& results) {
  const Status passed = passed_status(results);
  Table table("rrrrr",
              {"Models", passed_name(passed), "Failed", "Expected failures", "Unexpected passes"});
  std::vector<Cell> cells = {with_thousands_separators(static_cast<int64_t>(results.size()))};
  for (const Status status :
       {passed, Status::kFailed, Status::kExpectedFailure, Status::kUnexpectedPass}) {
    cells.push_back(with_thousands_separators(count_status(results, status)));
  }
  table.add(cells);
  return table.markdown();
}

}  // namespace

std::string render_summary(const Results& results, const Coverage& coverage,
                           const RunContext& context, const std::optional<ChangesSection>& changes,
                           const std::vector<ModelResult>& cases) {
  Data page;
  page.set("has_models", !results.empty() || cases.empty());
  if (!cases.empty()) {
    page.set("cases", fmt::format("{} **{}**: see [OPERATORS.md](OPERATORS.md).",
                                  cases_mark(cases, context.requires_support), cases_text(cases)));
  }
  page.set("verdict", fmt::format("{} **{}**{}", all_good(results) ? "✅" : "❌",
                                  passed_text(results), not_passed_text(results)));
  page.set("coverage", coverage_text(results, coverage, code_names));
  // The reference pages are read where they lie, and have no such file beside them.
  page.set("index",
           context.portable ? "" : " To search, filter and sort: [`index.html`](index.html).");
  page.set("counts", counts_table(results));
  page.set("pie", status_pie(results));
  const auto is_bad = [](const ModelResult& result) {
    return !result.is_good() && (result.failure || result.expected_failure);
  };
  set_some(page, "failures", failures_table(results, "Reason", is_bad, bad_news));
  const auto is_expected = [](const ModelResult& result) {
    return result.status() == Status::kExpectedFailure;
  };
  set_some(page, "expected",
           failures_table(results, "Known because", is_expected, [](const ModelResult& result) {
             return text_cell(result.expected_failure->reason);
           }));
  if (changes) page.set("changes", changes_data(*changes));
  page.set("models", models_table(results, context));
  page.set("categories", categories_table(results));
  set_environment(page, context, num_trials(results, context.settings));
  page.set("tolerance", passed_status(results) == Status::kPassed
                            ? tolerance_rule_text(context.settings)
                            : std::string());
  page.set("names_files", !coverage.files.empty() || !context.baseline.empty() ||
                              !context.expected_failures.empty());
  page.set("command", code_block(reproduce_command(coverage, context), "sh"));
  return render(templates::summary, page);
}

}  // namespace torch_ir
