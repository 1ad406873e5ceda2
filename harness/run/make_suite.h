// make_suite: the folders of cases that the harness makes: the operators as files, models as files,
// models taken apart.
//
// In workers, since it runs models. The caller itself touches no tensor.
#pragma once

#include <string>
#include <vector>

#include "harness/process/worker.h"
#include "harness/results/model_files.h"
#include "harness/run/runner.h"

namespace torch_ir {

struct SuiteRequest {
  // Where it goes, see case_files.h.
  std::string output = {};
  // What it is of, for its README: "operators".
  std::string what = {};
  // Each a case, or where models are taken apart a case for each of their different calls.
  std::vector<ModelSource> candidates = {};
  bool is_split = false;
};

// A candidate that could not be made a case, or taken apart, and why: one line.
struct SuiteProblem {
  std::string name = {};
  std::string message = {};
};

// Makes the suite with the seed and the limits of `options`. A candidate that ends its process
// costs itself only. Throws Error when `output` holds other files or cannot be written, and
// Interrupted after a signal: then there is no suite.
std::vector<SuiteProblem> make_suite(const SuiteRequest& request, const RunOptions& options);

// What workers do for it.
inline constexpr const char* kSuiteTask = "suite";
DoRequest make_suite_task(const WorkJson& setup);

}  // namespace torch_ir
