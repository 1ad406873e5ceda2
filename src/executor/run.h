// run_program, run_program_checked: one run of a program.
#ifndef TORCH_IR_EXECUTOR_RUN_H_
#define TORCH_IR_EXECUTOR_RUN_H_

#include <vector>

#include "torch_ir/executor/program.h"

namespace torch_ir {

// As ExecutionPlan::run.
std::vector<at::Tensor> run_program(const Program& program, const std::vector<at::Tensor>& inputs);

// As ExecutionPlan::run_checked.
std::vector<at::Tensor> run_program_checked(const Program& program,
                                            const std::vector<at::Tensor>& inputs);

}  // namespace torch_ir

#endif  // TORCH_IR_EXECUTOR_RUN_H_
