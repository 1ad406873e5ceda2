// draw_svg and draw_png: draw pictures of a graph with Graphviz.
//
// A graph of more than 60 nodes is drawn as its modules (mermaid.h). In an SVG, a click on a module
// opens a picture of its inside, level by level, without a script. Its boxes are coloured by time
// if times are given, else by error if there is any, else by the kind of operator, with a legend.
// The same graph, Graphviz and fonts give the same bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {

// Figures of a node that are not in the graph.
struct NodeFigures {
  // The max abs. error against the model.
  std::optional<double> max_diff = std::nullopt;
  std::optional<double> seconds = std::nullopt;
};

struct SvgOptions {
  // Defaults to the model's name.
  std::string title = {};
  // A node to emphasize, such as the first one that diverges.
  std::string highlighted_node = {};
  // As in MermaidOptions.
  int64_t max_nodes = kAllNodes;
  std::string module = {};
  int64_t depth = 0;
  // One for each node, or none.
  std::vector<NodeFigures> figures = {};
  std::chrono::duration<double> time_limit = std::chrono::seconds(60);
  std::function<void(const std::string&)> on_warning = {};
};

// Returns an SVG document on a white background, without scripts, fonts and external references.
// `metadata` has JSON for viewers: "nodes", each a list of name, operator, module, outputs, error
// and seconds, the last two null if unknown; and "scales", the colours of the classes of boxes. A
// box names its nodes, "3-8,13-18", and the picture that it opens. Throws Error if the module is
// unknown, or if Graphviz is missing, fails or takes too long.
std::string draw_svg(const Program& program, const SvgOptions& options = {});

std::string draw_png(const Program& program, const SvgOptions& options = {});

}  // namespace torch_ir
