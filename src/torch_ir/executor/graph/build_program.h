// build_program: the passes of compile, from an IR to the program that runs.
#pragma once

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/executor/graph/lower.h"
#include "torch_ir/executor/graph/program.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// As compile, whose arguments and errors these are.
Program build_program(const IR& ir, const StateDict& weights, const StateDict& constants,
                      const ExecutionOptions& options, UnreadResults unread = UnreadResults::kDrop);

}  // namespace torch_ir
