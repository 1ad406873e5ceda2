// CaseSource: where the process that runs a case finds it.
#pragma once

#include <string>

#include "torch_ir/cases/graph_case.h"

namespace torch_ir {

struct CaseSource {
  // The process is told nothing but the name.
  CaseInfo info = {};
  // With its files (case_files.h); empty for a case of the tables that are linked in.
  std::string folder = {};
};

}  // namespace torch_ir
