// Tables of operator cases: one text file per category. common.cases describes the syntax.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/registry/operator_case.h"

namespace torch_ir {

// The folder of the tables that come with this program: ../share/torch_ir/operators if it is
// installed, its runfiles if Bazel built it. Throws Error that says where it looked.
std::string find_case_tables();

// Reads all tables in `folder`. Throws Error that names file, line and column of a mistake.
std::vector<OperatorCase> read_case_tables(const std::string& folder);

}  // namespace torch_ir
