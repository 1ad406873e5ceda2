// name_graph: a TracedGraph with the names that torch.export gives, as an ExportedProgram.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/exporter/capture/traced_graph.h"
#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

// Placeholders are named by kind and state dict name ("p_fc_weight"), nodes by operator ("linear",
// "linear_1", ...), the outputs of a node with several "<node>_0", "<node>_1", ... Trailing
// positional arguments at their defaults are dropped, keyword-only ones wherever they stand.
// Leaves model_name, torch_version and constants for the caller. `names`, where it is given,
// becomes the name of each value of the traced graph; empty for those that no node makes.
ExportedProgram name_graph(const TracedGraph& graph, std::vector<std::string>* names = nullptr);

}  // namespace torch_ir
