// The IR as Graphviz DOT text: the same graph as the Mermaid flowchart, without a limit on its
// size.
#pragma once

#include <string>

#include "torch_ir/ir/ir.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {

// Of `options`, only `max_nodes` counts: Graphviz has no limits.
std::string ir_to_dot(const IR& ir, const MermaidOptions& options = {});

}  // namespace torch_ir
