// What leaves a plan: results that a caller may keep and change.
#ifndef TORCH_IR_EXECUTOR_PLAN_OUTPUTS_H_
#define TORCH_IR_EXECUTOR_PLAN_OUTPUTS_H_

#include <vector>

#include "torch_ir/executor/program.h"

namespace torch_ir {

// Makes the values of a run's outputs fit to be returned: one that is a constant of the plan or a
// view of one is copied, and inference tensors become ordinary ones over the same memory, since
// those that InferenceMode makes can not be written in place outside of it. Tensors that were the
// same stay the same. To be called outside InferenceMode.
void release_to_caller(const Program& program, std::vector<at::Tensor>& outputs);

}  // namespace torch_ir

#endif  // TORCH_IR_EXECUTOR_PLAN_OUTPUTS_H_
