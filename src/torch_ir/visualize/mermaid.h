// The IR as Mermaid text: a flowchart of the graph and a pie of its operators.
//
// Both are for GitHub and the command line; the text obeys Mermaid's rules for identifiers and
// labels, whatever the names in the IR are, and its limits on size where the options ask for that.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct MermaidOptions {
  // Nodes to show; the rest is one note "... N more nodes ...".
  int64_t max_nodes = std::numeric_limits<int64_t>::max();
  // Limits of the whole diagram. Fewer nodes than `max_nodes`, and fewer inputs and outputs, are
  // shown where it would not fit.
  int64_t max_edges = std::numeric_limits<int64_t>::max();
  int64_t max_characters = std::numeric_limits<int64_t>::max();
};

// What GitHub draws: beyond these limits it shows an error in place of the diagram.
inline constexpr int64_t kGitHubMaxMermaidEdges = 500;
inline constexpr int64_t kGitHubMaxMermaidCharacters = 50'000;

// The diagrams inside reports: short enough to be read, and always drawn.
inline constexpr MermaidOptions kReportMermaidOptions = {
    .max_nodes = 30,
    .max_edges = kGitHubMaxMermaidEdges,
    .max_characters = kGitHubMaxMermaidCharacters,
};

struct MermaidFlowchart {
  std::string text;
  // The first nodes of the graph; fewer than it has where it had to be cut.
  int64_t num_nodes = 0;
};

MermaidFlowchart draw_mermaid(const IR& ir, const MermaidOptions& options = {});

// `flowchart TD`: inputs, operators, weights (dashed edges) and outputs, each with its shape.
// The text of draw_mermaid.
std::string ir_to_mermaid(const IR& ir, const MermaidOptions& options = {});

// `pie showData`: the ten most frequent operators, then `Others`. Operators under one percent,
// which Mermaid would not draw, are among the others. An IR without nodes gives a pie without
// slices, titled "No operators".
std::string generate_op_distribution_pie(const IR& ir);

}  // namespace torch_ir
