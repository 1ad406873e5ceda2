// Draws pictures of an IR with Graphviz.
//
// A graph of more than 60 nodes is drawn as its modules (mermaid.h). In an SVG they are folded
// boxes: a click opens the picture of what is inside, level by level, without a script. The same
// graph, Graphviz and fonts give the same bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {

// What is known of a node besides the graph.
struct NodeFigures {
  // The node, an index.
  size_t node = 0;
  // The greatest absolute difference from the model.
  std::optional<double> max_diff = std::nullopt;
  std::optional<double> seconds = std::nullopt;
};

enum class ColourBy { kNothing, kKind, kError, kTime };

struct SvgOptions {
  // Defaults to the model's name.
  std::string title = {};
  // A node to emphasize, such as the first one that diverges.
  std::string highlighted_node = {};
  // As in MermaidOptions.
  int64_t max_nodes = kAllNodes;
  std::string module = {};
  int64_t depth = 0;
  // For nodes without figures nothing is known.
  std::vector<NodeFigures> figures = {};
  // The colours of boxes, with a legend; SVG only.
  ColourBy colour_by = ColourBy::kNothing;
  std::chrono::duration<double> time_limit = std::chrono::seconds(60);
  std::function<void(const std::string&)> on_warning = {};
};

// Returns an SVG document with a title and a description, on a white ground, without scripts, fonts
// and external references. Each group of class "node" has the name of its node, value or module as
// its title. `metadata` has JSON for viewers: "nodes", each a list of name, operator, module,
// outputs, error and seconds, the latter null if unknown; "scales", the colours by which boxes have
// classes. A box tells its nodes, "3-8,13-18", and the picture that it opens. Throws Error if the
// module is unknown, and if Graphviz is missing, fails or takes too long.
std::string ir_to_svg(const IR& ir, const SvgOptions& options = {});

std::string ir_to_png(const IR& ir, const SvgOptions& options = {});

}  // namespace torch_ir
