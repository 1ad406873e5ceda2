// run_program: computes the reference of an imported program without Python. It calls the operator
// of each node of the program as imported, without the converter or a plan.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Returns one output per user output of `program`; numbers are tensors without dimensions. Does not
// modify `weights` (by state dict name) or `inputs` (one per user input). `observer` gets inputs,
// then the values of each node, except inside conditions and loops. Values are freed after their
// last use. Nodes in `left_out` do not run, and are not observed; their values are undefined
// outputs. Throws ExecutionError naming the node.
std::vector<at::Tensor> run_program(const ExportedProgram& program, const StateDict& weights,
                                    const std::vector<at::Tensor>& inputs,
                                    const ValueObserver& observer = nullptr,
                                    const std::unordered_set<std::string>& left_out = {});

}  // namespace torch_ir
