// make_suite: the folders of cases that the harness makes: the operators as files, models as files,
// models taken apart.
//
// In a process of its own, since it runs models. The caller itself touches no tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/selection/model_files.h"

namespace torch_ir {

struct SuiteRequest {
  // Where it goes, see case_files.h.
  std::string output = {};
  // What it is of, for its README: "operators".
  std::string what = {};
  // The cases of the tables, by name.
  std::vector<std::string> operator_cases = {};
  // Models; each a case, or a case for each of their different calls.
  std::vector<ModelSource> models = {};
  bool is_split = false;
  uint64_t seed = 0;
};

// A model that could not be made a case, or taken apart, and why: one line.
struct SuiteProblem {
  std::string model = {};
  std::string message = {};
};

// Makes the suite with the help of a process whose files lie below `directory`. Throws Error when
// `output` holds other files or can not be written, and when the process ends before it is done.
std::vector<SuiteProblem> make_suite(const SuiteRequest& request, const std::string& directory);

// When the process is a child of make_suite, does its work and gives the exit status.
std::optional<int> make_suite_as_child(int argc, char** argv);

}  // namespace torch_ir
