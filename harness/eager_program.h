// run_eagerly: the reference for an imported program, where no Python is at hand.
//
// Used by the stage verify. It calls the operator of each node, one after the other, on the program
// as it was imported: nothing is converted, written, read, planned or reused.
#ifndef TORCH_IR_HARNESS_EAGER_PROGRAM_H_
#define TORCH_IR_HARNESS_EAGER_PROGRAM_H_

#include <vector>

#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

// The outputs of `program` for `inputs`, one for each user input; numbers are tensors without
// dimensions. Neither `weights`, by their names in the state dict, nor `inputs` are written to.
// Throws ExecutionError, naming the node.
std::vector<at::Tensor> run_eagerly(const ExportedProgram& program, const StateDict& weights,
                                    const std::vector<at::Tensor>& inputs);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_EAGER_PROGRAM_H_
