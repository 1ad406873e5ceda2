// run_program: computes the values of a program by calling the operator of each node.
//
// It is the reference for graphs without another: no converter, JSON, plan or kernel takes part.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// Returns one output for each of the program's; numbers are tensors without dimensions. Does not
// modify `weights` (by state dict name) or `inputs` (one for each user input). `observer` gets the
// inputs and weights that nodes read, in the order of the program, then the values of each node,
// except inside conditions and loops. Values are freed after their last use. Nodes in `left_out`
// (by number; may be empty) do not run, and are not observed; outputs that they make are undefined.
// Throws ExecutionError, naming the node, and as compile does.
std::vector<at::Tensor> run_program(const Program& program, const StateDict& weights,
                                    const std::vector<at::Tensor>& inputs,
                                    const ValueObserver& observer = nullptr,
                                    const std::vector<bool>& left_out = {});

}  // namespace torch_ir
