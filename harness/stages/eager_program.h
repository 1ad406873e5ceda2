// run_program: the reference for an imported program, where no Python is at hand.
//
// Used by the stage verify, and node by node where that fails. It calls the operator of each node,
// one after the other, on the program as it was imported: nothing is converted, written, read,
// planned or reused.
#pragma once

#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The outputs of `program` for `inputs`, one for each user input; numbers are tensors without
// dimensions. Neither `weights`, by their names in the state dict, nor `inputs` are written to.
// `observer`, where there is one, is told of all values: what goes in, then what each node makes;
// those inside conditions and loops excepted. Values are let go of after their last use. Throws
// ExecutionError, naming the node.
std::vector<at::Tensor> run_program(const ExportedProgram& program, const StateDict& weights,
                                    const std::vector<at::Tensor>& inputs,
                                    const ValueObserver& observer = nullptr);

}  // namespace torch_ir
