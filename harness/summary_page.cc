#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "torch_ir/harness/markdown.h"
#include "torch_ir/harness/page_text.h"
#include "torch_ir/harness/pages.h"
#include "torch_ir/templates/templates.h"
#include "torch_ir/visualize/summary.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;
using List = kainjow::mustache::list;

std::string verdict(const std::vector<ModelResult>& results) {
  const auto passed = std::count_if(results.begin(), results.end(),
                                    [](const ModelResult& result) { return result.passed(); });
  const bool all = static_cast<size_t>(passed) == results.size();
  return fmt::format("{} **{} of {} models PASSED**", all ? "✅" : "❌", passed, results.size());
}

std::string coverage_text(const std::vector<ModelResult>& results, const Coverage& coverage) {
  const Selection& selection = coverage.selection;
  std::string archives;
  if (!coverage.archives.empty()) {
    archives = counted(static_cast<int64_t>(coverage.num_archives), "archive");
  }
  if (!coverage.registry) {
    return "This run covers " + archives + ". Pages of other models may be from other runs.";
  }
  if (selection.models.empty() && selection.categories.empty()) {
    return fmt::format("This run covers the whole registry of {} models.", coverage.num_registered);
  }
  std::string text = fmt::format("This run covers {} of the {} models of the registry",
                                 results.size() - coverage.num_archives, coverage.num_registered);
  if (!selection.categories.empty()) {
    text += ", those of category " + code_list(selection.categories, ", ");
  }
  if (!selection.models.empty()) text += ", asked for by name";
  if (!archives.empty()) text += ", and " + archives;
  return text + ". Pages of other models may be from other runs.";
}

std::string page_link(const ModelResult& result) {
  return fmt::format("[{}]({}.md)", table_cell(escape_markdown(result.name)), result.name);
}

List failure_rows(const std::vector<ModelResult>& results) {
  List rows;
  for (const ModelResult& result : results) {
    if (!result.failure) continue;
    const std::string& message = result.failure->message;
    Data row;
    row.set("model", page_link(result));
    row.set("stage", std::string(stage_name(result.failure->stage)));
    row.set("reason", text_cell(message.substr(0, message.find('\n'))));
    rows.push_back(row);
  }
  return rows;
}

Data model_row(const ModelResult& result, const PageContext& context) {
  Data row;
  row.set("model", page_link(result));
  row.set("status", result.passed() ? "✅\u00a0PASSED" : "❌\u00a0FAILED");
  row.set("categories", code_list(result.categories, " "));
  if (result.graph) {
    const IRSummary summary = summarize(*result.graph);
    row.set("nodes", with_thousands_separators(summary.num_nodes));
    row.set("edges", with_thousands_separators(summary.num_edges));
    row.set("weights", with_thousands_separators(summary.num_weights));
    row.set("parameters", with_thousands_separators(summary.total_parameters));
  }
  if (const Trial* trial = result.worst_trial()) {
    row.set("max_diff", difference_text(trial->verification.max_diff, context));
  }
  return row;
}

List category_rows(const std::vector<ModelResult>& results) {
  struct Count {
    int64_t models = 0;
    int64_t passed = 0;
  };
  std::map<std::string, Count> counts;
  for (const ModelResult& result : results) {
    for (const std::string& category : result.categories) {
      ++counts[category].models;
      if (result.passed()) ++counts[category].passed;
    }
  }
  List rows;
  for (const auto& [category, count] : counts) {
    Data row;
    row.set("name", code_cell(category));
    row.set("models", with_thousands_separators(count.models));
    row.set("passed", with_thousands_separators(count.passed));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string render_summary(const std::vector<ModelResult>& results, const Coverage& coverage,
                           const PageContext& context) {
  List models;
  for (const ModelResult& result : results) models.push_back(model_row(result, context));
  const List failures = failure_rows(results);
  Data page;
  page.set("verdict", verdict(results));
  page.set("coverage", coverage_text(results, coverage));
  page.set("has_failures", !failures.empty());
  page.set("failures", failures);
  page.set("models", models);
  page.set("categories", category_rows(results));
  set_environment(page, context);
  page.set("names_files", !coverage.archives.empty());
  page.set("command", code_block(reproduce_command(coverage, context), "sh"));
  return render(templates::summary, page);
}

}  // namespace torch_ir
