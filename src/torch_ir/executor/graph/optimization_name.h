// Names of optimization levels: what a user types, and what a report says.
//
// Called by the command line, the harness and the reports.
#pragma once

#include <string>

#include "torch_ir/executor/graph/execution_options.h"

namespace torch_ir {

// "exact", "fast".
std::string optimization_name(Optimization optimization);

// Throws Error, with the names that there are.
Optimization parse_optimization(const std::string& name);

}  // namespace torch_ir
