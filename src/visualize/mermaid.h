// The IR as Mermaid text: a flowchart of the graph and a pie of its operators.
//
// Both are for GitHub and the command line; the text obeys Mermaid's rules for identifiers, labels
// and sizes, whatever the names in the IR are.
#ifndef TORCH_IR_VISUALIZE_MERMAID_H_
#define TORCH_IR_VISUALIZE_MERMAID_H_

#include <cstdint>
#include <limits>
#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct MermaidOptions {
  // Nodes to show; the rest is one note "... N more nodes ...".
  int64_t max_nodes = std::numeric_limits<int64_t>::max();
};

// `flowchart TD`: inputs, operators, weights (dashed edges) and outputs, each with its shape.
std::string ir_to_mermaid(const IR& ir, const MermaidOptions& options = {});

// `pie showData`: the ten most frequent operators, then `Others`.
std::string generate_op_distribution_pie(const IR& ir);

}  // namespace torch_ir

#endif  // TORCH_IR_VISUALIZE_MERMAID_H_
