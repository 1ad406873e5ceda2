#include <c10/util/StringUtil.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "harness/report/page_text.h"
#include "harness/report/run_text.h"
#include "torch_ir/base/tolerance.h"

namespace torch_ir {
namespace {

using Results = std::vector<Result>;

// OPERATORS.md has all of them.
constexpr size_t kMostCauses = 10;
constexpr size_t kMostModels = 2000;

constexpr const char* kModelsExplanation =
    "Max abs. error is the maximum over all trials. Smallest passing tolerance is the smallest "
    "value for both rtol and atol with which all trials pass. The last column divides the error "
    "of the worst output against the graph in float64 by eager's error: 1 is as accurate as eager. "
    "It is empty if float64 is not a reference for an output.";

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

Table models_table(const Results& results) {
  Table table("lllrrrrrrrrrr",
              {"Model", "Status", "Categories", "Nodes", "Edges", "Weights", "Parameters",
               "Multiply-adds", "Max&nbsp;abs.&nbsp;error", "SNR&nbsp;(dB)", "Cosine similarity",
               "Smallest passing tolerance", "Error vs float64, relative to eager's"});
  for (const Result& result : results) {
    std::vector<Cell> cells = {page_link(result.name), status_cell(result.status()),
                               code_list(result.categories, " ")};
    const std::optional<GraphSummary> graph = result.graph_summary();
    for (const auto& [name, member] : kGraphFigures) {
      cells.push_back(graph ? Cell(graph->figures.*member) : "");
    }
    const char* at_least = graph && !graph->costs.not_counted.empty() ? "≥ " : "";
    cells.push_back(graph ? at_least + with_thousands_separators(graph->costs.multiply_adds) : "");
    const auto [max_diff, smallest, signal_to_noise, cosine] = difference_metrics(result);
    cells.insert(cells.end(), {short_number(max_diff), short_number(signal_to_noise),
                               cosine ? fmt::format("{:.6g}", *cosine) : "",
                               smallest ? tolerance_text(*smallest) : "",
                               own_error_cell(worst_own_error(result))});
    table.add(cells);
  }
  return table;
}

Table categories_table(const Results& results) {
  std::map<std::string, std::map<Status, int64_t>> categories;
  for (const Result& result : results) {
    for (const std::string& category : result.categories) {
      ++categories[category][result.status()];
    }
  }
  // All passing results of a run end with the same stage.
  const bool are_run = count_status(results, Status::kExtracted) == 0;
  const Status passed = are_run ? Status::kPassed : Status::kExtracted;
  Table table("lrrrrrr", {"Category", "Models", are_run ? "Passed" : "Extracted", "Failed",
                          "Unsupported", "Expected failures", "Unexpected passes"});
  for (auto& [category, counts] : categories) {
    int64_t num_models = 0;
    for (const auto& [status, count] : counts) num_models += count;
    table.add({code_cell(category), num_models, counts[passed], counts[Status::kFailed],
               counts[Status::kUnsupported], counts[Status::kExpectedFailure],
               counts[Status::kUnexpectedPass]});
  }
  return table;
}

}  // namespace

std::string render_summary(const RunRecord& run, const BaselineComparison* baseline) {
  const auto& [coverage, context, results, cases] = run;
  const bool has_models = !results.empty() || cases.empty();
  const bool is_good = all_good(results) && !coverage.is_interrupted;
  const std::string_view interrupted = interrupted_prefix(coverage);
  const Table failures = failures_table(results);
  std::vector<FailureCause> causes = failure_causes(results, cases);
  if (cases.empty() && causes.size() >= failures.num_rows()) causes.clear();
  constexpr size_t kWithThreads = 4;
  constexpr size_t kAllColumns = 7;
  const std::string page = section(
      "# Summary",
      {cases.empty() ? ""
                     : fmt::format("{} **{}{}**: see [OPERATORS.md](OPERATORS.md).",
                                   cases_mark(run), interrupted, cases_text(cases)),
       !has_models
           ? ""
           : fmt::format("{} **{}{}**{}\n\n{} To search, filter and sort: "
                         "[`index.html`](index.html).",
                         is_good ? "✅" : "❌", interrupted, passed_text(results),
                         not_passed_text(results), coverage_text(results, coverage, code_span)),
       section("## Causes", {causes_table(causes, kMostCauses).markdown()}),
       section("## Failures", {failures.markdown()}),
       section("## Expected failures", {expected_table(results).markdown()}),
       section("## Places\n\nWhere nodes ran, as the executor reports it.",
               {places_table(results, true).markdown()}),
       section("## Changes",
               {baseline == nullptr ? "" : changes_text(*baseline, context.baseline)}),
       section("## Models\n\nIn execution order.",
               {models_table(results).markdown(), results.empty() ? "" : kModelsExplanation}),
       section("## Categories", {categories_table(results).markdown()}),
       reproduce_section(coverage, context, num_trials(results, context.settings),
                         has_models ? kAllColumns : kWithThreads)});
  return page + "\n";
}

}  // namespace torch_ir
