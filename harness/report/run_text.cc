#include "harness/report/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "harness/report/failure_causes.h"
#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/base/tolerance.h"

namespace torch_ir {
namespace {

int64_t count_files(const std::vector<Result>& results, FileFormat format) {
  return std::ranges::count_if(
      results, [&](const Result& it) { return it.origin && it.origin->format == format; });
}

constexpr size_t kMaxModels = 20;
constexpr size_t kMostDetails = 10;

struct FigureText {
  bool is_tolerance = false;

  std::string operator()(const std::string& text) const { return printable(text); }
  std::string operator()(int64_t count) const { return fmt::format("{}", count); }
  std::string operator()(double figure) const {
    return is_tolerance ? tolerance_text(figure) : fmt::format("{:.3g}", figure);
  }
};

// "3 models and 304 cases"; `more` precedes the nouns.
std::string models_and_cases(size_t num_models, size_t num_cases, const std::string& more = "") {
  const std::string models = counted(static_cast<int64_t>(num_models), more + "model");
  const std::string cases = counted(static_cast<int64_t>(num_cases), more + "case");
  if (num_cases == 0) return models;
  return num_models == 0 ? cases : models + " and " + cases;
}

std::string compared_text(const BaselineComparison& comparison) {
  std::string text = models_and_cases(comparison.num_compared, comparison.num_cases) + " compared";
  std::string_view separator = ": ";
  for (const Trend trend : kTrends) {
    const size_t count = comparison.count(trend);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", separator, count, trend_name(trend));
    separator = ", ";
  }
  return text;
}

std::string change_text(const FigureChange& change) {
  const FigureText text{.is_tolerance = change.is_tolerance};
  const std::string before = std::visit(text, change.before);
  const std::string now = std::visit(text, change.now);
  const std::string name = printable(change.what);
  if (before.empty() && now.empty()) return name + " changed";
  if (now.empty()) return fmt::format("{}: was {}", name, before);
  if (before.empty()) return fmt::format("{}: {}", name, now);
  return fmt::format("{}: {} -> {}", name, before, now);
}

// The first change follows trend and model on their line; the others go below.
void append_model(const ModelChange& change, size_t name_width, std::string& text) {
  std::string start =
      fmt::format("  {:7}  {:{}}", trend_name(change.trend), printable(change.model), name_width);
  for (const std::string& line : change_lines(change, "  ")) {
    text += start + "  " + line + '\n';
    start = std::string(2 + 7 + 2 + name_width, ' ');
  }
}

std::vector<std::pair<std::string_view, int64_t>> outcomes_of(const std::vector<Result>& cases) {
  std::vector<std::pair<std::string_view, int64_t>> outcomes = {
      {"passed", 0},  {"differs", 0},   {"unsupported", 0},  {"failed", 0},
      {"crashed", 0}, {"timed out", 0}, {"out of memory", 0}};
  for (const Result& result : cases) {
    const std::string_view name = outcome_name(result);
    auto known = std::ranges::find(outcomes, name, &std::pair<std::string_view, int64_t>::first);
    if (known == outcomes.end()) known = outcomes.insert(known, {name, 0});
    ++known->second;
  }
  return outcomes;
}

std::string some_on_host(const std::vector<Result>& results) {
  const int64_t count = count_on_host(results);
  if (count == 0) return "";
  return fmt::format(" ({} with nodes on the host)", with_thousands_separators(count));
}

}  // namespace

std::string passed_text(const std::vector<Result>& results) {
  if (const int64_t extracted = count_status(results, Status::kExtracted)) {
    return fmt::format("{} of {} models extracted, not run", extracted, results.size());
  }
  return fmt::format("{} of {} models passed{}", count_status(results, Status::kPassed),
                     results.size(), some_on_host(results));
}

std::string not_passed_text(const std::vector<Result>& results) {
  std::string text;
  for (const auto& [status, words] : {std::pair(Status::kNotHeld, " not held by the compute dtype"),
                                      {Status::kFailed, " failed"},
                                      {Status::kUnsupported, " unsupported"},
                                      {Status::kUnexpectedPass, " passed unexpectedly"},
                                      {Status::kExpectedFailure, " failed as expected"}}) {
    if (const int64_t some = count_status(results, status)) {
      text += ", " + with_thousands_separators(some) + words;
    }
  }
  return text;
}

std::string cases_text(const std::vector<Result>& cases) {
  std::string text = fmt::format(
      "{} of {} cases passed{}", with_thousands_separators(count_status(cases, Status::kPassed)),
      with_thousands_separators(static_cast<int64_t>(cases.size())), some_on_host(cases));
  for (const auto& [name, count] : outcomes_of(cases)) {
    if (name == "passed" || count == 0) continue;
    const std::string_view words = name == "differs" && count != 1 ? "differ" : name;
    text += fmt::format(", {} {}", with_thousands_separators(count), words);
  }
  return text;
}

std::string cases_lines(const std::vector<Result>& cases) {
  std::map<std::string, std::vector<Result>> by_category;
  size_t width = 0;
  for (const Result& it : cases) {
    by_category[category_of(it)].push_back(it);
    width = std::max(width, printable(category_of(it)).size());
  }
  std::string text;
  for (const auto& [category, members] : by_category) {
    text += fmt::format("{:{}}  {}\n", printable(category), width, cases_text(members));
  }
  const auto num_bad = std::ranges::count(cases, false, &Result::is_good);
  if (num_bad > static_cast<int64_t>(kMaxModels)) {
    return text + causes_lines(failure_causes({}, cases), kMaxModels);
  }
  for (const Result& result : cases) {
    if (result.is_good()) continue;
    text += fmt::format("  {}  {}: {}\n", printable(result.name), outcome_name(result),
                        printable(result.reason()));
  }
  return text;
}

std::string verdict_text(const std::vector<Result>& results, const std::vector<Result>& cases) {
  if (cases.empty()) return passed_text(results) + not_passed_text(results);
  const std::string models =
      results.empty() ? "" : passed_text(results) + not_passed_text(results) + "; ";
  return models + cases_text(cases);
}

std::string_view interrupted_prefix(const Coverage& coverage) {
  return coverage.is_interrupted ? "Interrupted: " : "";
}

std::string_view cases_mark(const RunRecord& run) {
  if (!all_good(run.cases) || run.coverage.is_interrupted) return "❌";
  return count_status(run.cases, Status::kPassed) == 0 ? "➖" : "✅";
}

std::string cases_coverage_text(const std::vector<Result>& cases, const Coverage& coverage) {
  if (coverage.is_interrupted) {
    return fmt::format("This run was interrupted after {} had finished.",
                       counted(static_cast<int64_t>(cases.size()), "case"));
  }
  std::set<std::string> operators;
  for (const Result& it : cases) operators.insert(it.call->op_type);
  const auto num_operators = counted(static_cast<int64_t>(operators.size()), "operator");
  if (coverage.is_split) return "The cases are the calls of " + num_operators + " in models.";
  const Selection& selection = coverage.selection;
  const bool is_part =
      !selection.operators.empty() || !selection.dtypes.empty() || !selection.categories.empty();
  return fmt::format("This run covers {}{}.", num_operators,
                     is_part ? ", a part of the suite" : "");
}

std::string coverage_text(const std::vector<Result>& results, const Coverage& coverage,
                          const Format& code) {
  if (coverage.is_interrupted) {
    return fmt::format(
        "This run was interrupted after {} had finished. Pages of other models may be from other "
        "runs.",
        counted(static_cast<int64_t>(results.size()), "model"));
  }
  const Selection& selection = coverage.selection;
  std::string files;
  int64_t num_of_registry = std::ssize(results);
  for (const FileFormat format : kFileFormats) {
    const int64_t number = count_files(results, format);
    if (number == 0) continue;
    files += (files.empty() ? "" : " and ") + counted(number, format_name(format));
    num_of_registry -= number;
  }
  if (!coverage.has_registry()) {
    return "This run covers " + files + ". Pages of other models may be from other runs.";
  }
  if (selection.models.empty() && selection.categories.empty()) {
    return fmt::format("This run covers all {} registered models.", coverage.num_registered);
  }
  std::string text = fmt::format("This run covers {} of the {} registered models", num_of_registry,
                                 coverage.num_registered);
  for (const std::string& category : selection.categories) {
    text += (&category == &selection.categories.front() ? ", in category " : ", ") + code(category);
  }
  if (!selection.models.empty()) text += ", selected by name";
  if (!files.empty()) text += ", and " + files;
  return text + ". Pages of other models may be from other runs.";
}

std::string reproducer_hint(const std::string& model, const RunContext& context,
                            const Format& code) {
  const RunSettings& settings = context.settings;
  const bool has_other_name = !context.program.empty() && context.program != "harness";
  if (!settings.backend.empty()) {
    return fmt::format("{} stands for the program that links the backend{}.", code("harness"),
                       has_other_name ? ", here " + code(context.program) : "");
  }
  if (settings.executor.empty()) {
    return !has_other_name ? ""
                           : fmt::format("{} stands for the program of this run, here {}.",
                                         code("harness"), code(context.program));
  }
  return fmt::format(
      "If the executor's command names files relative to another folder, run this there instead, "
      "with {} in place of {}, where {} is the folder of these reports.",
      code("--ir DIR/repro/" + model + " --output NEW"), code("--ir ."), code("DIR"));
}

std::string handed_back_text(const NodeReport& nodes, const Format& code) {
  std::string text;
  if (const int64_t count = nodes.num_not_handed_back) {
    text = fmt::format("{} value{} not returned", count, count == 1 ? " was" : "s were");
  }
  if (nodes.unknown.empty()) return text;
  constexpr size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const std::string& name : nodes.unknown) names.push_back(code(name));
  return fmt::format("{}{}ignored unknown values: {}", text, text.empty() ? "" : "; ",
                     listed(names, kMostNames, static_cast<size_t>(nodes.num_unknown)));
}

std::string not_judged_text(const NodeReport& nodes, const Format& code) {
  if (nodes.not_judged.empty()) return {};
  const auto& [value, reason] = nodes.not_judged.front();
  const bool is_one = nodes.num_not_judged == 1;
  return fmt::format("{} {} not judged; {} {}: {}", counted(nodes.num_not_judged, "value"),
                     is_one ? "was" : "were", is_one ? "it is" : "the first is", code(value),
                     reason);
}

std::string expectation_place(const Result& result, const RunContext& context, const Format& code) {
  const std::string& list = context.expected_failures;
  if (list.empty()) return "its registration";
  return (result.origin ? "" : "its registration or from ") + code(list);
}

int num_trials(std::span<const Result> results, const RunSettings& settings) {
  int most = results.empty() ? settings.trials : 1;
  for (const Result& result : results) {
    // Graphs with dynamic sizes, and those with several files of inputs, have more.
    most = std::max(most, static_cast<int>(result.trials.size()));
    const bool has_one = result.origin && !result.origin->expected.empty();
    if (!result.passed() && !has_one) most = std::max(most, settings.trials);
  }
  return most;
}

std::string baseline_text(const BaselineComparison& comparison, const std::string& file) {
  std::string text;
  if (comparison.models.empty()) {
    text =
        comparison.num_compared + comparison.num_cases == 0
            ? fmt::format("nothing of this run is in {}\n", printable(file))
            : fmt::format("no changes since {}, {}\n", printable(file), compared_text(comparison));
  } else {
    text = fmt::format("changes since {}, {}\n", printable(file), compared_text(comparison));
  }
  for (const std::string& note : comparison.notes) {
    text += fmt::format("  {:7}  {}\n", "note", printable(note));
  }
  const size_t num_shown = std::min(comparison.models.size(), kMaxModels);
  size_t name_width = 0;
  for (size_t i = 0; i < num_shown; ++i) {
    name_width = std::max(name_width, printable(comparison.models[i].model).size());
  }
  for (size_t i = 0; i < num_shown; ++i) append_model(comparison.models[i], name_width, text);
  if (num_shown < comparison.models.size()) {
    const auto left = std::span(comparison.models).subspan(num_shown);
    const auto num_cases =
        static_cast<size_t>(std::ranges::count(left, true, &ModelChange::is_case));
    text += fmt::format("  ... and {}\n",
                        models_and_cases(left.size() - num_cases, num_cases, "more "));
  }
  return text;
}

std::vector<std::string> baseline_notes(const BaselineComparison& comparison) {
  std::vector<std::string> notes = {as_sentence(compared_text(comparison))};
  for (const std::string& note : comparison.notes) notes.push_back(as_sentence(note));
  return notes;
}

std::vector<std::string> change_lines(const ModelChange& change, std::string_view indent) {
  std::vector<std::string> lines;
  for (const FigureChange& figure : change.changes) {
    lines.push_back(change_text(figure));
    const size_t num_shown = std::min(figure.details.size(), kMostDetails);
    for (const std::string& detail : std::span(figure.details).first(num_shown)) {
      lines.push_back(fmt::format("{}{}", indent, printable(detail)));
    }
    if (const size_t num_left = figure.details.size() - num_shown; num_left > 0) {
      lines.push_back(fmt::format("{}... and {} more", indent, num_left));
    }
  }
  return lines;
}

}  // namespace torch_ir
