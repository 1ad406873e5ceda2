#include <c10/util/StringUtil.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "harness/report/failure_causes.h"
#include "harness/report/finding.h"
#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "harness/report/pages.h"
#include "harness/report/run_text.h"
#include "harness/results/result.h"
#include "harness/results/run_context.h"
#include "templates/templates.h"
#include "torch_ir/base/text.h"
#include "torch_ir/base/tolerance.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;
using Results = std::vector<Result>;

// OPERATORS.md has all of them.
constexpr size_t kMostCauses = 10;
constexpr size_t kMostModels = 2000;

std::string code_names(const std::vector<std::string>& names) { return code_list(names, ", "); }

std::string status_pie(const Results& results) {
  std::string pie = "pie showData title Models by status\n";
  for (const Status status : kStatuses) {
    if (const int64_t some = count_status(results, status)) {
      pie += fmt::format("    \"{}\" : {}\n", status_name(status), some);
    }
  }
  return code_block(pie, "mermaid");
}

// A line for each, so that a page of many models stays short.
Table failures_table(const Results& results) {
  Table table("lll", {"Model", "Finding", "Reproducer"});
  for (const Result& result : results) {
    const bool is_bad = !result.is_good() || result.status() == Status::kNotHeld ||
                        result.status() == Status::kUnsupported;
    if (!is_bad || table.num_rows() == kMostModels) continue;
    const std::string folder = "repro/" + result.name + "/";
    table.add({page_link(result.name), text_cell(finding_of(result).text()),
               result.reproducer
                   ? fmt::format("[{}]({})", counted(result.reproducer->num_nodes, "node"),
                                 link_target(folder))
                   : std::string()});
  }
  return table;
}

Table expected_table(const Results& results) {
  Table table("lll", {"Model", "Kind", "Reason"});
  for (const Result& result : results) {
    if (result.status() != Status::kExpectedFailure) continue;
    table.add({page_link(result.name), failure_kind_name(result.failure->kind),
               text_cell(result.expected_failure->reason)});
  }
  return table;
}

std::string status_cell(Status status) {
  std::string name(status_name(status));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string cell = std::string(status_mark(status)) + " " + name;
  c10::ReplaceAll(cell, " ", "\u00a0");
  return cell;
}

void add_model(const Result& result, Table& table) {
  std::vector<Cell> cells = {page_link(result.name), status_cell(result.status()),
                             code_list(result.categories, " ")};
  if (const auto summary = result.graph_summary()) {
    for (const auto& [name, member] : kGraphFigures) cells.push_back(summary->figures.*member);
    const CostTotals& costs = summary->costs;
    cells.push_back((costs.not_counted.empty() ? "" : "≥ ") +
                    with_thousands_separators(costs.multiply_adds));
  } else {
    cells.resize(cells.size() + 5, "");
  }
  const DifferenceMetrics figures = difference_metrics(result);
  const std::optional<double> smallest = figures.smallest_passing_tolerance;
  cells.push_back(max_diff_text(result));
  cells.push_back(short_number(figures.signal_to_noise));
  cells.push_back(figures.cosine_similarity ? fmt::format("{:.6g}", *figures.cosine_similarity)
                                            : "");
  cells.push_back(smallest ? tolerance_text(*smallest) : "");
  cells.push_back(own_error_cell(worst_own_error(result)));
  table.add(cells);
}

std::string models_table(const Results& results) {
  Table table("lllrrrrrrrrrr",
              {"Model", "Status", "Categories", "Nodes", "Edges", "Weights", "Parameters",
               "Multiply-adds", "Max&nbsp;abs.&nbsp;error", "SNR&nbsp;(dB)", "Cosine similarity",
               "Smallest passing tolerance", "Error vs float64, relative to eager's"});
  for (const Result& result : results) add_model(result, table);
  return table.markdown();
}

using Counts = std::map<Status, int64_t>;

// A row per category, or one unnamed row for all models.
Table counts_table(const Results& results, const std::map<std::string, Counts>& rows) {
  // All passing results of a run end with the same stage.
  const bool are_run = count_status(results, Status::kExtracted) == 0;
  const Status passed = are_run ? Status::kPassed : Status::kExtracted;
  Table table("lrrrrrr", {"Category", "Models", are_run ? "Passed" : "Extracted", "Failed",
                          "Unsupported", "Expected failures", "Unexpected passes"});
  for (auto [category, counts] : rows) {
    int64_t num_models = 0;
    for (const auto& [status, count] : counts) num_models += count;
    std::vector<Cell> cells = {code_cell(category)};
    cells.push_back(num_models);
    for (const Status status : {passed, Status::kFailed, Status::kUnsupported,
                                Status::kExpectedFailure, Status::kUnexpectedPass}) {
      cells.push_back(counts[status]);
    }
    table.add(cells);
  }
  return table;
}

std::string categories_table(const Results& results) {
  std::map<std::string, Counts> counts;
  for (const Result& result : results) {
    for (const std::string& category : result.categories) ++counts[category][result.status()];
  }
  return counts_table(results, counts).markdown();
}

std::string totals_table(const Results& results) {
  Counts counts;
  for (const Result& result : results) ++counts[result.status()];
  return counts_table(results, {{"", counts}}).without_empty_columns().markdown();
}

}  // namespace

std::string render_summary(const RunRecord& run, const BaselineComparison* baseline) {
  const auto& [coverage, context, results, cases] = run;
  Data page;
  const bool has_models = !results.empty() || cases.empty();
  page.set("has_models", has_models);
  if (!cases.empty()) {
    page.set("cases", fmt::format("{} **{}{}**: see [OPERATORS.md](OPERATORS.md).", cases_mark(run),
                                  interrupted_prefix(coverage), cases_text(cases)));
  }
  const Table failures = failures_table(results);
  const std::vector<FailureCause> causes = failure_causes(results, cases);
  if (!cases.empty() || causes.size() < failures.num_rows()) {
    set_some(page, "causes", causes_table(causes, kMostCauses));
  }
  const bool is_good = all_good(results) && !coverage.is_interrupted;
  page.set("verdict",
           fmt::format("{} **{}{}**{}", is_good ? "✅" : "❌", interrupted_prefix(coverage),
                       passed_text(results), not_passed_text(results)));
  page.set("coverage", coverage_text(results, coverage, code_names));
  page.set("counts", totals_table(results));
  page.set("pie", status_pie(results));
  set_some(page, "failures", failures);
  set_some(page, "expected", expected_table(results));
  set_some(page, "places", places_table(results, true, context.timings));
  if (baseline != nullptr) page.set("changes", changes_text(*baseline, context.baseline));
  page.set("models", models_table(results));
  page.set("categories", categories_table(results));
  page.set("reproduce", reproduce_text(coverage, context, num_trials(results, context.settings),
                                       has_models ? "Tolerance" : "Threads"));
  return render(templates::summary, page);
}

}  // namespace torch_ir
