// The example inputs of an archive as what its graph takes.
//
// Called by the harness and by commands that run an archive without inputs of the user's.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The inputs that the archive at `path` was exported with, one for each graph input of `ir`, its
// graph. Throws Error, with the advice to give inputs, where the archive does not have them all, or
// they can not be read.
std::vector<at::Tensor> example_graph_inputs(const std::string& path, const IR& ir);

}  // namespace torch_ir
