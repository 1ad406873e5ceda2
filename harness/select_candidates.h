// select_candidates: what a run of the harness is asked for. The other functions are those that its
// commands share.
#pragma once

#include <string>
#include <vector>

#include "harness/harness.h"
#include "harness/results/model_files.h"
#include "harness/run/make_suite.h"

namespace torch_ir {

struct Selected {
  std::vector<ModelSource> models = {};
  std::vector<ModelSource> cases = {};
  Coverage coverage = {};
};

// Throws Error for unknown names, and for files that are missing or unreadable.
Selected select_candidates(const HarnessOptions& options);

std::vector<CaseSource> cases_in(const std::string& suite);

std::vector<std::string> names_of(const std::vector<ModelSource>& models);

// Starts with ".." if `file` is not in `folder`.
std::vector<std::string> parts_below(const std::string& folder, const std::string& file);

std::vector<std::string> unsplit_lines(const std::vector<SuiteProblem>& problems);

}  // namespace torch_ir
