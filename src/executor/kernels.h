// Kernels: ways of our own to run an operator, for the same bits with less work.
//
// Chosen when a plan is compiled, for steps whose fixed arguments allow it; every other step calls
// its operator through the dispatcher.
#ifndef TORCH_IR_EXECUTOR_KERNELS_H_
#define TORCH_IR_EXECUTOR_KERNELS_H_

#include "torch_ir/executor/program.h"

namespace torch_ir {

// Gives `step`, which calls an operator, a kernel and the arguments that it wants, if there is one.
void choose_kernel(Step& step);

}  // namespace torch_ir

#endif  // TORCH_IR_EXECUTOR_KERNELS_H_
