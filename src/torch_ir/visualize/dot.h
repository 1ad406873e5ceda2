// ir_to_dot: writes an IR as Graphviz DOT: the graph of the Mermaid flowchart, without size limits.
#pragma once

#include <string>

#include "torch_ir/ir/ir.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {

// Ignores the limits on edges and characters.
std::string ir_to_dot(const IR& ir, const MermaidOptions& options = {});

}  // namespace torch_ir
