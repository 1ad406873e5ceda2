// build_program: the passes of compile, from an IR to the program that runs.
#ifndef TORCH_IR_EXECUTOR_BUILD_PROGRAM_H_
#define TORCH_IR_EXECUTOR_BUILD_PROGRAM_H_

#include "torch_ir/executor/execution_options.h"
#include "torch_ir/executor/lower.h"
#include "torch_ir/executor/program.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// As compile, whose arguments and errors these are.
Program build_program(const IR& ir, const StateDict& weights, const StateDict& constants,
                      const ExecutionOptions& options, UnreadResults unread = UnreadResults::kDrop);

}  // namespace torch_ir

#endif  // TORCH_IR_EXECUTOR_BUILD_PROGRAM_H_
