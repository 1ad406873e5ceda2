// Names of optimization levels: what a user types, and what a report says.
//
// Called by the command line, the harness and the reports.
#ifndef TORCH_IR_EXECUTOR_OPTIMIZATION_NAME_H_
#define TORCH_IR_EXECUTOR_OPTIMIZATION_NAME_H_

#include <string>

#include "torch_ir/executor/execution_options.h"

namespace torch_ir {

// "exact", "fast".
std::string optimization_name(Optimization optimization);

// Throws Error, with the names that there are.
Optimization parse_optimization(const std::string& name);

}  // namespace torch_ir

#endif  // TORCH_IR_EXECUTOR_OPTIMIZATION_NAME_H_
