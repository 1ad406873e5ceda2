// Plain-text sentences about a run and its baseline, for terminals, Markdown pages and index.html.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/markup.h"
#include "harness/report/pages.h"
#include "harness/results/baseline.h"

namespace torch_ir {

// "10 of 12 models passed", and the rest: ", 1 failed, 1 failed as expected".
std::string passed_text(const std::vector<Result>& results);
std::string not_passed_text(const std::vector<Result>& results);

// "2,410 of 2,412 cases passed, 1 differs, 1 crashed".
std::string cases_text(const std::vector<Result>& cases);

// For a terminal: a line per category, and one for each failing case; for more than twenty, one for
// each of the first twenty causes.
std::string cases_lines(const std::vector<Result>& cases);

// "12 of 12 models passed; 2,412 of 2,412 cases passed".
std::string verdict_text(const std::vector<Result>& results, const std::vector<Result>& cases);

// "Interrupted: " if the run was.
std::string_view interrupted_prefix(const Coverage& coverage);

// "✅", "❌", or "➖" if nothing failed and nothing passed.
std::string_view cases_mark(const RunRecord& run);

std::string cases_coverage_text(const std::vector<Result>& cases, const Coverage& coverage);

// `code` formats names of categories.
std::string coverage_text(const std::vector<Result>& results, const Coverage& coverage,
                          const Format& code);

// Hints about the reproducer's command beyond the folder to run it in; may be empty. `code` formats
// commands.
std::string reproducer_hint(const std::string& model, const RunContext& context,
                            const Format& code);

// "3 values were not returned; ignored unknown values: foo", in one line; empty if exactly the
// expected values were returned. `code` formats names.
std::string handed_back_text(const NodeReport& nodes, const Format& code);

// "2 values were not judged; the first is fused: ...", in one line; empty if all were.
std::string not_judged_text(const NodeReport& nodes, const Format& code);

std::string expectation_place(const Result& result, const RunContext& context, const Format& code);

// The most trials of a model: one if a file has its expected outputs.
int num_trials(std::span<const Result> results, const RunSettings& settings);

std::vector<std::string> baseline_notes(const BaselineComparison& comparison);

// `indent` is for the details of a change.
std::vector<std::string> change_lines(const ModelChange& change, std::string_view indent = "");

// For a terminal, worst first: at most twenty models, with at most ten changes of each graph.
// `file` is the baseline as the user named it.
std::string baseline_text(const BaselineComparison& comparison, const std::string& file);

}  // namespace torch_ir
