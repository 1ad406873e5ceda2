#include "harness/report/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/report/page_text.h"
#include "torch_ir/analysis/text_table.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/tolerance.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxModels = 20;
constexpr size_t kMostDetails = 10;

// Of cases that did not pass, in order (outcome_name).
constexpr std::string_view kOutcomes[] = {
    "differs",       "unsupported", "failed",    "crashed",          "timed out",
    "out of memory", "not held",    "extracted", "expected failure", "unexpected pass"};

std::string figure_text(const FigureChange::Figure& figure, bool is_tolerance) {
  if (const auto* text = std::get_if<std::string>(&figure)) return printable(*text);
  if (const auto* count = std::get_if<int64_t>(&figure)) return fmt::format("{}", *count);
  const double number = std::get<double>(figure);
  return is_tolerance ? tolerance_text(number) : fmt::format("{:.3g}", number);
}

// "3 models and 304 cases", without what there is none of.
std::string counted_both(size_t num, const std::string& noun, size_t num_others,
                         const std::string& other_noun) {
  const std::string text = counted(static_cast<int64_t>(num), noun);
  const std::string other = counted(static_cast<int64_t>(num_others), other_noun);
  if (num_others == 0) return text;
  return num == 0 ? other : text + " and " + other;
}

std::string compared_text(const BaselineComparison& comparison) {
  std::string text =
      counted_both(comparison.num_compared, "model", comparison.num_cases, "case") + " compared";
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
  const std::string before = figure_text(change.before, change.is_tolerance);
  const std::string now = figure_text(change.now, change.is_tolerance);
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

std::string some_on_host(const std::vector<Result>& results) {
  const auto count =
      std::ranges::count_if(results, [](const Result& it) { return !host_text(it).empty(); });
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
  for (const std::string_view name : kOutcomes) {
    const auto count = std::ranges::count(cases, name, outcome_name);
    if (count == 0) continue;
    const std::string_view words = name == "differs" && count != 1 ? "differ" : name;
    text += fmt::format(", {} {}", with_thousands_separators(count), words);
  }
  return text;
}

std::string cases_lines(const std::vector<Result>& cases) {
  std::map<std::string, std::vector<Result>> by_category;
  for (const Result& it : cases) by_category[category_of(it)].push_back(it);
  TextRows rows;
  for (const auto& [category, members] : by_category) {
    rows.push_back({printable(category), cases_text(members)});
  }
  std::string text = text_table(rows);
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
  const Selection& selection = coverage.selection;
  std::string files;
  int64_t num_of_registry = std::ssize(results);
  for (const FileFormat format : kFileFormats) {
    const auto number = std::ranges::count_if(
        results, [&](const Result& it) { return it.origin && it.origin->format == format; });
    if (number == 0) continue;
    files += (files.empty() ? "" : " and ") + counted(number, format_name(format));
    num_of_registry -= number;
  }
  std::string text;
  if (coverage.is_interrupted) {
    text = fmt::format("This run was interrupted after {} had finished",
                       counted(std::ssize(results), "model"));
  } else if (!coverage.has_registry()) {
    text = "This run covers " + files;
  } else if (selection.models.empty() && selection.categories.empty()) {
    return fmt::format("This run covers all {} registered models.", coverage.num_registered);
  } else {
    text = fmt::format("This run covers {} of the {} registered models", num_of_registry,
                       coverage.num_registered);
    for (const std::string& category : selection.categories) {
      const bool is_first = &category == &selection.categories.front();
      text += (is_first ? ", in category " : ", ") + code(category);
    }
    if (!selection.models.empty()) text += ", selected by name";
    if (!files.empty()) text += ", and " + files;
  }
  return text + ". Pages of other models may be from other runs.";
}

std::string reproducer_hint(const std::string& model, const RunContext& context,
                            const Format& code) {
  const RunSettings& settings = context.settings;
  const bool has_other_name = !context.program.empty() && context.program != "harness";
  if (settings.executor.empty()) {
    if (settings.backend.empty() && !has_other_name) return "";
    return fmt::format("{} stands for the program {}{}.", code("harness"),
                       settings.backend.empty() ? "of this run" : "that links the backend",
                       has_other_name ? ", here " + code(context.program) : "");
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
  const bool is_same = comparison.models.empty();
  const bool is_nothing = is_same && comparison.num_compared + comparison.num_cases == 0;
  std::string text = is_nothing ? fmt::format("nothing of this run is in {}\n", printable(file))
                                : fmt::format("{}changes since {}, {}\n", is_same ? "no " : "",
                                              printable(file), compared_text(comparison));
  for (const std::string& note : comparison.notes) {
    text += fmt::format("  {:7}  {}\n", "note", printable(note));
  }
  const std::span<const ModelChange> models = comparison.models;
  const auto shown = models.first(std::min(models.size(), kMaxModels));
  size_t name_width = 0;
  for (const ModelChange& it : shown) name_width = std::max(name_width, printable(it.model).size());
  for (const ModelChange& it : shown) append_model(it, name_width, text);
  const auto left = models.subspan(shown.size());
  if (left.empty()) return text;
  const auto num_cases = static_cast<size_t>(std::ranges::count(left, true, &ModelChange::is_case));
  return text + fmt::format("  ... and {}\n", counted_both(left.size() - num_cases, "more model",
                                                           num_cases, "more case"));
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
