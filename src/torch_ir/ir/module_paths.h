// The module of each node of a graph, for tables, pictures and messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// One path per node, such as "encoder.layers.0.mlp"; empty for the model itself.
//
// If any node has a path (NodeOrigin::module), these are the recorded ones. Graphs captured in C++
// record none: there a node belongs to the module that owns the first weight it reads, and a node
// that reads no weight to the innermost module around both the last node before it and the first
// node after it that do.
//
// PT2E quantises outside of all modules: a node that quantises and has no path belongs to the
// module of the first node that reads its result.
std::vector<std::string> module_paths(const Graph& graph);

// The innermost module around both: "encoder" for "encoder.layers.0" and "encoder.norm".
std::string_view enclosing_module(std::string_view a, std::string_view b);

}  // namespace torch_ir
