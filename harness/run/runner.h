// The runner: candidates, each in a worker.
//
// A model has a worker of its own, single calls share them. One that fails, crashes or hangs is a
// result like any other and does not stop the others. The runner itself touches no tensor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/model_files.h"
#include "harness/results/result.h"
#include "harness/run/expected_failures.h"

namespace torch_ir {

struct RunOptions {
  RunSettings settings = {};
  // How many workers at once.
  int jobs = 1;
  // For one candidate.
  std::chrono::duration<double> timeout = std::chrono::seconds(300);
  // What the processes of one candidate may keep in memory together, in bytes.
  std::optional<int64_t> memory_limit = std::nullopt;
  // Of these candidates, in place of what they have registered.
  ExpectedFailures expected_failures = {};
};

// What wants to know how the run goes. Called from the thread that runs.
struct RunObserver {
  std::function<void(const std::string& name)> on_start = [](const std::string&) {};
  // `directory` holds the files of run_candidate, as far as a model came, and is removed
  // afterwards; the graph of `result` is not kept.
  std::function<void(Result& result, const std::string& directory)> on_finish =
      [](Result&, const std::string&) {};
  // A few times a second.
  std::function<void()> on_wait = [] {};
};

// Runs `candidates`, whose names differ, all models or all single calls, and gives their results,
// in the same order: after SIGINT, SIGTERM or SIGHUP under an InterruptGuard, of those that had
// finished. No child is left. Files are put below `directory`, a folder for each model. Throws
// OutputError when these cannot be written.
std::vector<Result> run_candidates(const std::vector<ModelSource>& candidates,
                                   const RunOptions& options, const std::string& directory,
                                   const RunObserver& observer = {});

// To be called first in the main function of every program that runs candidates or makes suites:
// when the process is a worker, works and gives the exit status; otherwise nothing.
std::optional<int> run_as_child(int argc, char** argv);

}  // namespace torch_ir
