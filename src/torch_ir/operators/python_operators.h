// Operators that only Python packages define, and that everyday models export all the same.
//
// torch.export records a custom operator by its name, and LibTorch does not have it. The executor
// registry starts with these; programs register their own with register_executor.
#pragma once

#include <map>
#include <string>

#include "torch_ir/operators/executor_registry.h"

namespace torch_ir {

std::map<std::string, OpExecutor> python_operators();

}  // namespace torch_ir
