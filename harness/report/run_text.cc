#include "harness/report/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/report/page_text.h"
#include "torch_ir/analysis/summary.h"

namespace torch_ir {

namespace {

// "3 archives and 1 graph".
std::string files_text(const Coverage& coverage) {
  std::string text;
  for (const auto& [number, noun] :
       {std::pair(coverage.num_archives, "archive"), std::pair(coverage.num_graphs, "graph")}) {
    if (number == 0) continue;
    text += (text.empty() ? "" : " and ") + counted(static_cast<int64_t>(number), noun);
  }
  return text;
}

}  // namespace

int64_t count_status(const std::vector<ModelResult>& results, Status status) {
  return std::ranges::count(results, status, &ModelResult::status);
}

bool all_good(const std::vector<ModelResult>& results) {
  return std::ranges::all_of(results, &ModelResult::is_good);
}

std::string passed_text(const std::vector<ModelResult>& results) {
  return fmt::format("{} of {} models passed", count_status(results, Status::kPassed),
                     results.size());
}

std::string not_passed_text(const std::vector<ModelResult>& results) {
  std::string text;
  for (const auto& [status, words] : {std::pair(Status::kFailed, " failed"),
                                      {Status::kUnexpectedPass, " passed unexpectedly"},
                                      {Status::kExpectedFailure, " failed as expected"}}) {
    if (const int64_t some = count_status(results, status)) {
      text += ", " + with_thousands_separators(some) + words;
    }
  }
  return text;
}

std::string coverage_text(const std::vector<ModelResult>& results, const Coverage& coverage,
                          const std::function<std::string(const std::vector<std::string>&)>& list) {
  const Selection& selection = coverage.selection;
  const std::string files = files_text(coverage);
  if (!coverage.registry) {
    return "This run covers " + files + ". Pages of other models may be from other runs.";
  }
  if (selection.models.empty() && selection.categories.empty()) {
    return fmt::format("This run covers the whole registry of {} models.", coverage.num_registered);
  }
  std::string text = fmt::format("This run covers {} of the {} models of the registry",
                                 results.size() - coverage.num_archives - coverage.num_graphs,
                                 coverage.num_registered);
  if (!selection.categories.empty()) {
    text += ", those of category " + list(selection.categories);
  }
  if (!selection.models.empty()) text += ", asked for by name";
  if (!files.empty()) text += ", and " + files;
  return text + ". Pages of other models may be from other runs.";
}

std::string reproducer_hint(const std::string& model, const RunContext& context,
                            const std::function<std::string(const std::string&)>& code) {
  const RunSettings& settings = context.settings;
  if (!settings.backend.empty()) {
    return fmt::format("{} is the program that the backend is linked into{}.", code("harness"),
                       context.program.empty() ? "" : ", here " + code(context.program));
  }
  if (settings.executor.empty()) return "";
  return fmt::format(
      "The program runs where that is typed. If its command names files relative to another "
      "folder, "
      "type it in that one, with {} in place of {}, where {} is the folder of these reports.",
      code("--ir DIR/repro/" + model + " --output NEW"), code("--ir ."), code("DIR"));
}

std::string expectation_place(const ModelResult& result, const RunContext& context,
                              const std::function<std::string(const std::string&)>& code) {
  const std::string& list = context.expected_failures;
  if (list.empty()) return "its registration";
  return (result.origin ? "" : "its registration, or of ") + code(list);
}

int num_trials(const ModelResult& result, const RunSettings& settings) {
  return result.origin && !result.origin->expected.empty() ? 1 : settings.trials;
}

int num_trials(const std::vector<ModelResult>& results, const RunSettings& settings) {
  int most = results.empty() ? settings.trials : 1;
  for (const ModelResult& result : results) most = std::max(most, num_trials(result, settings));
  return most;
}

}  // namespace torch_ir
