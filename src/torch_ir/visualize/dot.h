// draw_dot: writes a graph as Graphviz DOT: that of the Mermaid flowchart, without size limits.
#pragma once

#include <string>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {

// Ignores the limits on edges and characters.
std::string draw_dot(const Program& program, const MermaidOptions& options = {});

// As above, for `resolve(ir)`, whether or not its nodes fit their operators.
std::string ir_to_dot(const IR& ir, const MermaidOptions& options = {});

}  // namespace torch_ir
