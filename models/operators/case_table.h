// Tables of operator cases: text files, one a category. common.cases says how they are written.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/registry/operator_case.h"

namespace torch_ir {

// The folder of the tables that come with this program: beside it where it is installed
// (../share/torch_ir/operators), among its runfiles where Bazel built it. Throws Error that says
// where it looked.
std::string find_case_tables();

// All cases of the tables in `folder`. Throws Error that names file, line and column for what
// cannot be read.
std::vector<OperatorCase> read_case_tables(const std::string& folder);

}  // namespace torch_ir
