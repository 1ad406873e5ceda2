// GraphSketch: what a drawing of an IR shows, before any notation.
//
// The Mermaid and the DOT writer both spell out a sketch, so the two draw the same graph. Any IR
// can be drawn, also one that is not well formed: a value that nobody has made when
// it is used is drawn as a weight.
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
  // Of the value or the node in the IR, as it is; empty for notes.
  std::string name = {};
};

struct Arrow {
  // Identifiers of boxes that come before the arrow.
  std::string from;
  std::string to;
  // Empty for none.
  std::string label;
  // Drawn dashed: from a weight.
  bool from_weight = false;
};

struct GraphSketch {
  // In drawing order: a node's box is followed by its weights and the arrows into it.
  std::vector<std::variant<Box, Arrow>> marks;
  int64_t num_arrows = 0;
};

// How many there are at most; the rest of each is one note.
struct SketchLimits {
  int64_t nodes = std::numeric_limits<int64_t>::max();
  int64_t inputs = std::numeric_limits<int64_t>::max();
  int64_t outputs = std::numeric_limits<int64_t>::max();
};

GraphSketch sketch_graph(const IR& ir, const SketchLimits& limits = {});

// A large graph as drawings that can be laid out one by one: what a layout costs grows with the
// square of a graph and worse; that of its sections grows with their number. Each is a sketch of
// `nodes_per_section` nodes of `ir`, in their order, with boxes of its own for the inputs and
// weights that it uses, and for the values "From: ..." earlier sections. All identifiers differ.
// Only the first `max_nodes` nodes are drawn; the last sketch counts the rest.
std::vector<GraphSketch> sketch_sections(const IR& ir, size_t nodes_per_section, size_t max_nodes);

// --- As Graphviz text ---

struct DotOptions {
  // Attributes of the whole graph, "nslimit=2;", in Graphviz's own notation.
  std::string layout = {};
  // The operator that the node of this name is drawn as stands out.
  std::string highlighted_node = {};
  // Whether a layout that packs its parts keeps the order of the sketches.
  bool is_ordered = false;
};

// Sketches as one Graphviz graph. All their identifiers differ.
std::string write_dot(std::string_view name, const std::vector<GraphSketch>& sketches,
                      const DotOptions& options = {});

}  // namespace torch_ir
