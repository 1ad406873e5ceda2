// make_suite: writes a folder of cases, from operators, models, or split models. Candidates run in
// workers; the caller touches no tensor.
#pragma once

#include <string>
#include <vector>

#include "harness/process/worker.h"
#include "harness/results/model_files.h"
#include "harness/run/runner.h"

namespace torch_ir {

struct SuiteRequest {
  // See case_files.h.
  std::string output = {};
  // The content of the suite, for its README: "operators".
  std::string content = {};
  // With is_split, each distinct call of a candidate is a case; otherwise the candidate itself.
  std::vector<ModelSource> candidates = {};
  bool is_split = false;
  // With is_split, the names of candidates that the executor or backend of the run computes in
  // groups, which stay whole.
  std::vector<std::string> keeps_groups = {};
  // With is_split, the names of candidates whose equal calls are all cases.
  std::vector<std::string> keeps_equal = {};
  // Whether candidates may fail. Otherwise no suite is written if one fails, or if there is no
  // case.
  bool may_lack_candidates = false;
};

// A candidate that is missing in the suite, with the reason in one line.
struct SuiteProblem {
  std::string name = {};
  std::string message = {};
  // Whether only a part of a split candidate is missing.
  bool is_partial = false;
};

struct MadeSuite {
  size_t num_cases = 0;
  std::vector<SuiteProblem> problems = {};
};

// Uses the seed and limits of `options`. A candidate that ends its process fails alone. Throws
// Error if `output` holds other files or cannot be written, and Interrupted after a signal; then it
// leaves no suite.
MadeSuite make_suite(const SuiteRequest& request, const RunOptions& options);

inline constexpr const char* kSuiteTask = "suite";
DoRequest make_suite_task(const WorkJson& setup);

}  // namespace torch_ir
