// GraphSketch: the content of a drawing of an IR, without any notation.
//
// The Mermaid and DOT writers both write a sketch, so they draw the same graph. The IR need not be
// well formed: a value that is used before it is made is drawn as a weight.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

enum class BoxKind { kInput, kOperator, kWeight, kOutput, kNote };

struct Box {
  BoxKind kind;
  // Letters, digits and underscores; unique in the drawing.
  std::string id;
  // One line each, as labels.h promises; `detail` may be empty.
  std::string title;
  std::string detail;
  // The original name of the value or node in the IR; empty for notes.
  std::string name = {};
};

struct Arrow {
  // Identifiers of boxes that precede the arrow.
  std::string from;
  std::string to;
  std::string label;
  bool from_weight = false;
};

struct GraphSketch {
  // In drawing order: a node's box is followed by its weights and incoming arrows.
  std::vector<std::variant<Box, Arrow>> marks;
  int64_t num_arrows = 0;
};

// Maximum numbers; one note stands for the rest of each.
struct SketchLimits {
  int64_t nodes = std::numeric_limits<int64_t>::max();
  int64_t inputs = std::numeric_limits<int64_t>::max();
  int64_t outputs = std::numeric_limits<int64_t>::max();
};

GraphSketch sketch_graph(const IR& ir, const SketchLimits& limits = {});

// Splits a large graph into drawings, since the cost of a layout grows at least with the square of
// its size. Each sketch has `nodes_per_section` consecutive nodes of `ir`, and its own boxes for
// the inputs and weights that they use, and for the values "From: ..." earlier sections. All
// identifiers differ. Only the first `max_nodes` nodes are drawn; the last sketch counts the rest.
std::vector<GraphSketch> sketch_sections(const IR& ir, size_t nodes_per_section, size_t max_nodes);

struct DotOptions {
  // Graph attributes in Graphviz's notation: "nslimit=2;".
  std::string layout = {};
  // Emphasizes the operator of this node.
  std::string highlighted_node = {};
  // Keeps the order of the sketches in layouts that pack their parts.
  bool is_ordered = false;
};

// Writes sketches, whose identifiers must all differ, as one Graphviz graph.
std::string write_dot(std::string_view name, const std::vector<GraphSketch>& sketches,
                      const DotOptions& options = {});

}  // namespace torch_ir
