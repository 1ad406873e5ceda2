// make_suite: writes folders of cases: operators, models, or split models. Candidates run in
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
  // The suite's subject for its README: "operators".
  std::string what = {};
  // With is_split, each distinct call of a candidate is a case; otherwise each candidate.
  std::vector<ModelSource> candidates = {};
  bool is_split = false;
  // With is_split, whether the groups that the executor or backend computes at once stay whole.
  bool is_grouped = false;
  // Whether candidates may fail; otherwise there is no suite if one does, or if it has no case.
  bool may_lack_candidates = false;
};

// One line.
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
// Error when `output` holds other files or cannot be written, InputError for groups that do not fit
// their graph, and Interrupted after a signal; no suite is left then.
MadeSuite make_suite(const SuiteRequest& request, const RunOptions& options);

inline constexpr const char* kSuiteTask = "suite";
DoRequest make_suite_task(const WorkJson& setup);

}  // namespace torch_ir
