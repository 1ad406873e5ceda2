// The runner: every model in a child process of its own.
//
// A model that fails, crashes or hangs is a result like any other and does not stop the others.
// The runner itself touches no tensor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/model_results.h"
#include "harness/results/result.h"
#include "harness/run/expected_failures.h"
#include "harness/selection/model_files.h"

namespace torch_ir {

struct RunOptions {
  RunSettings settings = {};
  // How many models at once.
  int jobs = 1;
  // For one model.
  std::chrono::duration<double> timeout = std::chrono::seconds(300);
  // What the processes of one model may keep in memory together, in bytes.
  std::optional<int64_t> memory_limit = std::nullopt;
  // Of these models, in place of what they have registered.
  ExpectedFailures expected_failures = {};
};

// What wants to know how the run goes. Called from the thread that runs.
struct RunObserver {
  std::function<void(const std::string& model)> on_start = [](const std::string&) {};
  // `directory` holds the files of run_model, as far as the model came, and is removed afterwards;
  // the graph of `result` is not kept.
  std::function<void(ModelResult& result, const std::string& directory)> on_finish =
      [](ModelResult&, const std::string&) {};
  // A few times a second.
  std::function<void()> on_wait = [] {};
};

// Runs `models`, whose names differ, and gives their results, in the same order: after SIGINT,
// SIGTERM or SIGHUP under an InterruptGuard, of those that had finished. No child is left. Files
// are put below `directory`, a folder for each model. Throws OutputError when these can not be
// written.
ModelResults run_models(const std::vector<ModelSource>& models, const RunOptions& options,
                        const std::string& directory, const RunObserver& observer = {});

// To be called first in the main function of every program that calls run_models or run_cases: when
// the process is such a child, runs its model or cases and gives the exit status; otherwise
// nothing.
std::optional<int> run_as_child(int argc, char** argv);

}  // namespace torch_ir
