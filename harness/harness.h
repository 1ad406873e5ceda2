// run_harness: the harness program as a function. Programs must call run_as_child first.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/baseline.h"
#include "harness/results/model_files.h"
#include "harness/results/result.h"
#include "harness/results/run_context.h"
#include "harness/run/make_suite.h"
#include "harness/run/progress.h"
#include "harness/run/runner.h"
#include "torch_ir/analysis/support_report.h"

namespace torch_ir {

struct HarnessOptions {
  RunOptions run = {};
  // Pages show its paths as the user typed them, and the settings of `run`.
  RunContext context = {};
  // What is asked for. If there are files and nothing is selected, the registry is left out.
  Coverage coverage = {};
  // The models to register for this run; empty for all.
  std::vector<std::string> registry = {};
  // The file of --write-expected-failures (run/expected_failures.h); empty for none.
  std::string written_failures = {};
  // An earlier run, of which only what was not good runs again.
  std::optional<RunRecord> rerun = std::nullopt;
  // Whether to write the files about the whole run, such as SUMMARY.md.
  bool summary = true;
};

// Null streams are silent.
struct HarnessStreams {
  std::ostream* lines = nullptr;
  std::ostream* bar = nullptr;
  ProgressOptions progress = {};
};

struct HarnessRun {
  std::vector<Result> results = {};
  std::vector<Result> cases = {};
  std::optional<BaselineComparison> baseline = std::nullopt;

  // One line for each model that was not split, or only in part.
  std::vector<std::string> not_split = {};

  // Whether every model passed or failed as expected, no case failed, every requested split
  // succeeded, and nothing is worse than the baseline.
  bool is_good() const;
};

// Runs the selected cases, registered models and models in files, in this order, and publishes all
// reports at once at the end (report/report_files.h). Throws Error, if possible before running, for
// unknown names and for files that are missing, unreadable, not writable, or would be replaced by
// the reports; earlier reports then stay unchanged. Throws Interrupted after SIGINT, SIGTERM or
// SIGHUP; the reports then cover the models that finished, if any.
HarnessRun run_harness(const HarnessOptions& options, const HarnessStreams& streams = {});

// Compares two runs without running anything, the values that they kept by `rule`, and writes
// COMPARE.md to the folder `output` unless that is empty. Throws Error for a folder without
// results.json, for files of another format, and for an output in one of the two folders.
BaselineComparison compare_reports(const RunFolder& old, const RunFolder& now,
                                   const ToleranceRule& rule, const std::string& output = "");

// Writes the selected cases or models, or with `is_split` their distinct calls, as files to
// `directory` (cases/case_files.h). Throws as run_harness, for a folder that holds other files, and
// for a model that cannot be written; then it leaves no suite. Has problems for models that were
// split only in part, and no case if every call was left out.
MadeSuite export_suite(const HarnessOptions& options, const std::string& directory);

// Reports which selected models a backend can run if it has the operators in the file `list`. Only
// extracts the models; the report lists models whose extraction fails. Throws as run_harness.
SupportReport supported_models(const HarnessOptions& options, const std::string& list);

}  // namespace torch_ir
