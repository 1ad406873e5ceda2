// Sentences about a run, and what has changed since an earlier one, as plain text: what terminals,
// the Markdown pages and index.html all say.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/report/pages.h"
#include "harness/results/baseline.h"

namespace torch_ir {

// "10 of 12 models passed", and what became of the others: ", 1 failed, 1 failed as expected".
std::string passed_text(const std::vector<Result>& results);
std::string not_passed_text(const std::vector<Result>& results);

// How many calls had each outcome; those of the legend of OPERATORS.md always, others where there
// are any.
std::vector<std::pair<std::string_view, int64_t>> outcomes_of(const std::vector<Result>& cases);

// "2,410 of 2,412 cases passed, 1 differs, 1 crashed".
std::string cases_text(const std::vector<Result>& cases);

// For a terminal: a line for each category, and for the first twenty cases that did not pass.
std::string cases_lines(const std::vector<Result>& cases);

// Both, as far as there are any: "12 of 12 models passed; 2,412 of 2,412 cases passed".
std::string verdict_text(const std::vector<Result>& results, const std::vector<Result>& cases);

// "✅", "❌", or "➖" where nothing failed and nothing passed.
std::string_view cases_mark(const std::vector<Result>& cases, bool requires_support);

// Which cases the run covers, a sentence.
std::string cases_coverage_text(const std::vector<Result>& cases, const Coverage& coverage);

// What the run covers; `list` spells names out.
std::string coverage_text(const std::vector<Result>& results, const Coverage& coverage,
                          const std::function<std::string(const std::vector<std::string>&)>& list);

// What there is to know about the command of a reproducer of `model` beside that it is typed in its
// folder; may be empty. `code` marks what stands in commands.
std::string reproducer_hint(const std::string& model, const RunContext& context,
                            const std::function<std::string(const std::string&)>& code);

// Where it may be said that the model is expected to fail: "its registration", the list of the run.
std::string expectation_place(const Result& result, const RunContext& context,
                              const std::function<std::string(const std::string&)>& code);

// How often a model runs: once where a file says what is expected of it.
int num_trials(const Result& result, const RunSettings& settings);

// The most that a model of the run runs.
int num_trials(const std::vector<Result>& results, const RunSettings& settings);

// What was compared, and how the runs themselves differ: sentences.
std::vector<std::string> baseline_notes(const BaselineComparison& comparison);

// What has changed, a line each.
std::vector<std::string> change_lines(const ModelChange& change);

// A few lines for a terminal, the worst first: at most twenty models, and of each graph at most ten
// changes. `file` is the baseline, as the user named it.
std::string baseline_text(const BaselineComparison& comparison, const std::string& file);

}  // namespace torch_ir
