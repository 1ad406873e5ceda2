// The module of each node of a graph, for tables, pictures and messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// One path per node, such as "encoder.layers.0.mlp"; empty for the model itself, and if unknown.
//
// If any node has a path (NodeOrigin::module), these are the recorded ones. Graphs captured in C++
// record none, as torch::nn has no hooks: there a path is known for a node that reads weights of
// one module, none of them tied. With `fills_gaps`, for pictures, any other node gets the innermost
// module around both the last node before it and the first node after it with a known path.
//
// PT2E quantises outside of all modules: a node that quantises and has no path belongs to the
// module of the first node that reads its result.
std::vector<std::string> module_paths(const Program& program, bool fills_gaps = false);

// The innermost module around both: "encoder" for "encoder.layers.0" and "encoder.norm".
std::string_view enclosing_module(std::string_view a, std::string_view b);

}  // namespace torch_ir
