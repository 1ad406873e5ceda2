// run_harness: the harness program as a function.
//
// Called by main, by the tests of single models, and by what keeps the reference pages. Every
// program that calls it calls run_as_child first.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/baseline.h"
#include "harness/results/model_files.h"
#include "harness/results/result.h"
#include "harness/results/selection.h"
#include "harness/run/progress.h"
#include "harness/run/runner.h"
#include "torch_ir/analysis/support_report.h"

namespace torch_ir {

struct HarnessOptions {
  std::string output = "reports";
  // The models that make up the registry for this run; empty for all of them.
  std::vector<std::string> registry = {};
  // Where there are models in files and nothing is selected, the registry is left out.
  Selection selection = {};
  std::vector<ModelFiles> files = {};
  RunOptions run = {};
  // A list of models that are expected to fail, see expected_failures.h; empty for none.
  std::string expected_failures = {};
  // The results.json of an earlier run to compare with; empty for none.
  std::string baseline = {};
  // Whether the reports say how long each stage took.
  bool timings = false;
  // Placeholders for what may differ between machines, see RunContext.
  bool portable = false;
  // Whether the files about the whole run are written, such as SUMMARY.md.
  bool summary = true;
  // The program that runs, where it is not //harness, see RunContext.
  std::string program = {};
  // Whether models are taken apart, and each different call runs alone as well.
  bool is_split = false;
  // Whether a case that is not supported fails the run.
  bool requires_support = false;
};

// Where a run says what it does; null for silence.
struct HarnessStreams {
  std::ostream* lines = nullptr;
  std::ostream* bar = nullptr;
  ProgressOptions progress = {};
};

struct HarnessRun {
  std::vector<Result> results = {};
  std::vector<Result> cases = {};
  // Where there is a baseline.
  std::optional<BaselineComparison> baseline = std::nullopt;

  // Why models that pass could not be taken apart: a line each.
  std::vector<std::string> not_split = {};

  // Whether every model passed, or failed as expected, and was taken apart where that was asked
  // for, no case failed, and nothing is worse than the baseline.
  bool is_good() const;

  bool requires_support = false;
};

// Runs the selected cases, models of the registry, then those in files, and writes their reports,
// all at once when they are complete (report/report_files.h). Throws Error, before anything runs
// where it can, for names that nobody registered, for files that are not there, that the reports
// would replace, or that can not be read or written: the reports of an earlier run are left as they
// were. Throws Interrupted after SIGINT, SIGTERM or SIGHUP; the reports are then those of the
// models and cases that had finished, where there are any.
HarnessRun run_harness(const HarnessOptions& options, const HarnessStreams& streams = {});

// Writes the selected cases or models into `directory` as files (cases/case_files.h); with
// `is_split` the different calls of the models. Gives how many cases there are. Throws as
// run_harness, and for a folder that holds other files.
size_t export_suite(const HarnessOptions& options, const std::string& directory);

// Which of the selected models a backend can take that has the operators of the file `list`. Only
// extracts them; those that can not be extracted are part of the report. Throws as run_harness.
SupportReport supported_models(const HarnessOptions& options, const std::string& list);

}  // namespace torch_ir
