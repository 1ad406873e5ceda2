#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "harness/report/pages.h"
#include "harness/report/run_text.h"
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

// Why a model counts as bad.
std::string bad_news(const ModelResult& result) {
  if (result.status() == Status::kUnexpectedPass) {
    return fmt::format("It passes, and is expected to fail ({}: {}).",
                       failure_kind_name(result.expected_failure->kind),
                       text_cell(result.expected_failure->reason));
  }
  return text_cell(headline(result.failure->message));
}

Data failure_row(const ModelResult& result, const std::string& reason) {
  Data row;
  row.set("model", link(result.name));
  row.set("kind", result.failure ? std::string(failure_kind_name(result.failure->kind))
                                 : std::string(status_name(result.status())));
  row.set("stage", result.failure ? std::string(stage_name(result.failure->stage)) : "");
  row.set("reason", reason);
  return row;
}

List failure_rows(const Results& results) {
  List rows;
  for (const ModelResult& result : results) {
    if (!result.is_good() && (result.failure || result.expected_failure)) {
      rows.push_back(failure_row(result, bad_news(result)));
    }
  }
  return rows;
}

List expected_rows(const Results& results) {
  List rows;
  for (const ModelResult& result : results) {
    if (result.status() == Status::kExpectedFailure) {
      rows.push_back(failure_row(result, text_cell(result.expected_failure->reason)));
    }
  }
  return rows;
}

Data changes_data(const ChangesSection& changes) {
  List rows;
  for (const ChangesSection::Row& change : changes.rows) {
    std::string text;
    for (const std::string& line : change.changes) {
      if (!text.empty()) text += "<br>";
      text += text_cell(line);
    }
    Data row;
    row.set("model", text_cell(change.model));
    row.set("trend", text_cell(change.trend));
    row.set("changes", text);
    rows.push_back(row);
  }
  List notes;
  for (const std::string& note : changes.notes) notes.push_back(Data(escape_markdown(note)));
  Data data;
  data.set("summary", "Compared with " + code_span(changes.baseline) +
                          (changes.rows.empty() ? ": nothing has changed." : ":"));
  data.set("notes", notes);
  data.set("has_rows", !rows.empty());
  data.set("rows", rows);
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

Data model_row(const ModelResult& result, const RunContext& context) {
  Data row;
  row.set("model", link(result.name));
  row.set("status", status_cell(result.status()));
  row.set("categories", code_list(result.categories, " "));
  if (const auto summary = result.graph_summary()) {
    const IRSummary& figures = summary->figures;
    row.set("nodes", with_thousands_separators(figures.num_nodes));
    row.set("edges", with_thousands_separators(figures.num_edges));
    row.set("weights", with_thousands_separators(figures.num_weights));
    row.set("parameters", with_thousands_separators(figures.total_parameters));
    const CostTotals& costs = summary->costs;
    row.set("multiply_adds", (costs.not_counted.empty() ? "" : "≥ ") +
                                 with_thousands_separators(costs.multiply_adds));
  }
  const DifferenceMetrics figures = difference_metrics(result);
  if (figures.max_diff) row.set("max_diff", difference_text(*figures.max_diff, context));
  if (figures.smallest_passing_tolerance) {
    row.set("smallest", tolerance_figure(*figures.smallest_passing_tolerance, context));
  }
  if (const auto factor = worst_factor(result)) {
    row.set("factor", factor_text(*factor, figures.max_diff.value_or(0), context));
  }
  return row;
}

List category_rows(const Results& results) {
  struct Count {
    int64_t models = 0;
    std::map<Status, int64_t> by_status = {};
  };
  std::map<std::string, Count> counts;
  for (const ModelResult& result : results) {
    for (const std::string& category : result.categories) {
      Count& count = counts[category];
      ++count.models;
      ++count.by_status[result.status()];
    }
  }
  List rows;
  for (auto& [category, count] : counts) {
    Data row;
    const auto set = [&, &counts = count.by_status](const char* key, Status status) {
      row.set(key, with_thousands_separators(counts[status]));
    };
    row.set("name", code_cell(category));
    row.set("models", with_thousands_separators(count.models));
    set("passed", passed_status(results));
    set("failed", Status::kFailed);
    set("expected", Status::kExpectedFailure);
    set("unexpected", Status::kUnexpectedPass);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string render_summary(const Results& results, const Coverage& coverage,
                           const RunContext& context, const std::optional<ChangesSection>& changes,
                           const std::vector<ModelResult>& cases) {
  List models;
  for (const ModelResult& result : results) models.push_back(model_row(result, context));
  const List failures = failure_rows(results);
  const List expected = expected_rows(results);
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
  page.set("num_models", with_thousands_separators(static_cast<int64_t>(results.size())));
  const Status passed = passed_status(results);
  page.set("passed_name", passed == Status::kPassed ? "Passed" : "Extracted");
  page.set("num_passed", with_thousands_separators(count_status(results, passed)));
  page.set("num_failed", with_thousands_separators(count_status(results, Status::kFailed)));
  page.set("num_expected",
           with_thousands_separators(count_status(results, Status::kExpectedFailure)));
  page.set("num_unexpected",
           with_thousands_separators(count_status(results, Status::kUnexpectedPass)));
  page.set("pie", status_pie(results));
  page.set("has_failures", !failures.empty());
  page.set("failures", failures);
  page.set("has_expected", !expected.empty());
  page.set("expected", expected);
  if (changes) page.set("changes", changes_data(*changes));
  page.set("models", models);
  page.set("categories", category_rows(results));
  set_environment(page, context, num_trials(results, context.settings));
  page.set("tolerance",
           passed == Status::kPassed ? tolerance_rule_text(context.settings) : std::string());
  page.set("names_files", !coverage.files.empty() || !context.baseline.empty() ||
                              !context.expected_failures.empty());
  page.set("command", code_block(reproduce_command(coverage, context), "sh"));
  return render(templates::summary, page);
}

}  // namespace torch_ir
