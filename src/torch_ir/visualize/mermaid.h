// draw_mermaid: writes a graph as Mermaid text: a flowchart of it and a pie of its operators.
//
// The text obeys Mermaid's rules for identifiers and labels, whatever the names in the graph are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

inline constexpr int64_t kAllNodes = std::numeric_limits<int64_t>::max();
inline constexpr size_t kMaxUnfoldedNodes = 60;

// A graph of more than kMaxUnfoldedNodes nodes is drawn as its modules, opened as far as the
// drawing stays readable. Equal modules in a row are drawn once, with their number; so are equal
// nodes of a graph without modules. Weights are drawn only if every node is.
struct MermaidOptions {
  // If given, draws the first `max_nodes` nodes, without modules, and one note for the rest: "... N
  // more nodes ...".
  int64_t max_nodes = kAllNodes;
  // Limits of the whole diagram. To fit, it may show fewer than `max_nodes` nodes, and fewer inputs
  // and outputs.
  int64_t max_edges = std::numeric_limits<int64_t>::max();
  int64_t max_characters = std::numeric_limits<int64_t>::max();
  // Draws the inside of this module, "encoder.layers.0". Throws Error for an unknown module.
  std::string module = {};
  // If given, draws modules whatever the number of nodes, with this many levels opened.
  int64_t depth = 0;
};

// Beyond these limits GitHub shows an error instead of the diagram.
inline constexpr int64_t kGitHubMaxMermaidEdges = 500;
inline constexpr int64_t kGitHubMaxMermaidCharacters = 50'000;

// For diagrams of nodes in reports: short enough to read, and within GitHub's limits.
inline constexpr MermaidOptions kReportMermaidOptions = {
    .max_nodes = 30,
    .max_edges = kGitHubMaxMermaidEdges,
    .max_characters = kGitHubMaxMermaidCharacters,
};

struct MermaidFlowchart {
  std::string text;
  // Fewer than the graph has if the diagram was cut.
  int64_t num_nodes = 0;
  // Whether it is drawn as modules.
  bool is_folded = false;
};

MermaidFlowchart draw_mermaid(const Program& program, const MermaidOptions& options = {});

// Returns the text of draw_mermaid for `resolve(ir)`, a `flowchart TD`: inputs, operators, weights
// (dashed edges) and outputs, each with its shape. Nodes need not fit their operators.
std::string ir_to_mermaid(const IR& ir, const MermaidOptions& options = {});

// Returns a `pie showData`: the ten most frequent operators, then `Others`, which include operators
// under one percent, since Mermaid would not draw them. A graph without nodes gives a pie without
// slices, titled "No operators".
std::string generate_op_distribution_pie(const Graph& graph);
std::string generate_op_distribution_pie(const IR& ir);

}  // namespace torch_ir
