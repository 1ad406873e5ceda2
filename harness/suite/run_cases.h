// run_cases: many cases, spread over processes that take many each.
//
// A case that crashes or hangs costs itself only: the process is started again behind it. The
// caller itself touches no tensor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/case_result.h"
#include "harness/results/result.h"
#include "harness/suite/case_source.h"

namespace torch_ir {

struct CaseRunOptions {
  RunSettings settings = {};
  // How many processes at once.
  int jobs = 1;
  // For one case, and what the processes of one case may keep in memory together, in bytes.
  std::chrono::duration<double> timeout = std::chrono::seconds(300);
  std::optional<int64_t> memory_limit = std::nullopt;
};

// Runs `cases` and gives their results, in the same order: after SIGINT, SIGTERM or SIGHUP under an
// InterruptGuard, of those that had finished. Files are put below `directory`. `on_progress` is
// told a few times a second how many are done. Throws OutputError.
std::vector<CaseResult> run_cases(const std::vector<CaseSource>& cases,
                                  const CaseRunOptions& options, const std::string& directory,
                                  const std::function<void(size_t num_done)>& on_progress);

// When the process is a child of run_cases, runs its cases and gives the exit status.
std::optional<int> run_cases_as_child(int argc, char** argv);

}  // namespace torch_ir
