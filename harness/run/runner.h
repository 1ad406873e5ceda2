// The runner: runs each candidate in a worker, so that a candidate that fails, crashes or hangs
// does not stop the others. Single calls share workers. The runner itself touches no tensor.
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
#include "harness/run/tolerances.h"

namespace torch_ir {

struct RunOptions {
  RunSettings settings = {};
  int jobs = 1;
  std::chrono::duration<double> timeout = std::chrono::seconds(300);
  // In bytes, for all processes of a candidate.
  std::optional<int64_t> memory_limit = std::nullopt;
  // Override the expected failures that models have registered.
  ExpectedFailures expected_failures = {};
  // Override the tolerances that models have registered, and those of the settings.
  AgreedTolerances tolerances = {};
};

// Called on the thread that runs the candidates.
struct RunObserver {
  std::function<void(const std::string& name)> on_start = [](const std::string&) {};
  // The verdict on a failed model is known; on_finish follows when the search for its reproducer
  // has ended.
  std::function<void(const Result& result)> on_judged = [](const Result&) {};
  // `directory` has the files of run_candidate, as far as they were written. Afterwards it is
  // removed, and the graph of `result` is dropped.
  std::function<void(Result& result, const std::string& directory)> on_finish =
      [](Result&, const std::string&) {};
  // Called a few times a second.
  std::function<void()> on_wait = [] {};
};

// Runs `candidates`, which have distinct names and are all models or all single calls. Returns
// results in order; after SIGINT, SIGTERM or SIGHUP under an InterruptGuard, only those of finished
// candidates. All children have ended by then. Files go below `directory`, in a folder per model.
// Throws OutputError if they cannot be written.
std::vector<Result> run_candidates(const std::vector<ModelSource>& candidates,
                                   const RunOptions& options, const std::string& directory,
                                   const RunObserver& observer = {});

}  // namespace torch_ir
