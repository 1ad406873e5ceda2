// GraphSketch: the content of a drawing of a graph, without any notation.
//
// The Mermaid and DOT writers both write a sketch, so they draw the same graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/visualize/fold.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {

enum class BoxKind { kInput, kOperator, kModule, kWeight, kOutput, kNote };

struct Box {
  BoxKind kind;
  // Letters, digits and underscores; unique in the drawing.
  std::string id;
  // One line each (labels.h); `detail` may be empty.
  std::string title;
  std::string detail = {};
  // The name of the value or node in the graph, or the title of the part; empty for notes.
  std::string name = {};
  // The nodes that it stands for, in ascending order.
  std::vector<size_t> nodes = {};
  // Set for kModule: a part that is not opened.
  const Part* part = nullptr;
  // The group that has all its nodes; empty in a frame.
  std::string group = {};
};

struct Arrow {
  // Identifiers of boxes that precede the arrow.
  std::string from;
  std::string to;
  std::string label;
  bool from_weight = false;
};

// The frame around the boxes of an opened part; a PartFrameEnd closes it.
struct PartFrame {
  std::string id;
  std::string title;
};
struct PartFrameEnd {};

// In drawing order: a node's box is followed by its weights and incoming arrows. If parts are
// folded, all arrows come last.
using GraphSketch = std::vector<std::variant<Box, Arrow, PartFrame, PartFrameEnd>>;

// Maximum numbers; one note stands for the rest of each.
struct SketchLimits {
  int64_t nodes = kAllNodes;
  int64_t inputs = std::numeric_limits<int64_t>::max();
  int64_t outputs = std::numeric_limits<int64_t>::max();
};

// Sketches the parts of a graph or of one of its modules. The graph must outlive it.
class Sketchbook {
 public:
  // As fold_graph; `groups` has the group of each node, or nothing.
  explicit Sketchbook(const Program& graph, const std::string& module = "",
                      const std::vector<std::string>& traits = {},
                      std::vector<std::string> groups = {});

  const Part& root() const { return root_; }

  // Whether `draw` folds the part: only a part of many nodes, or any if `depth` is given.
  static bool is_folded(const Part& part, int64_t depth = 0);

  // The inside of `part`, with the values that enter and leave it. If it is folded, `depth` levels
  // are opened (0: as many as are readable), and weights are not drawn.
  GraphSketch draw(const Part& part, int64_t depth = 0) const;

  // All nodes of `part`, up to the limits.
  GraphSketch draw_nodes(const Part& part, const SketchLimits& limits = {}) const;

 private:
  friend class Sketcher;

  const Graph& graph_;
  Part root_;
  const std::vector<std::string> groups_;
  // By value.
  std::vector<bool> is_weight_;
};

// For drawings of folded parts, which have few boxes.
inline constexpr std::string_view kFoldedLayout = "nslimit=20; nslimit1=20;";

struct DotOptions {
  // Graph attributes in Graphviz's notation: "nslimit=2;".
  std::string layout = {};
  // Emphasizes the box of this node, an index; none by default.
  size_t highlighted_node = std::numeric_limits<size_t>::max();
  // Without the shapes and colours of kinds of boxes.
  bool is_plain = false;
  // With the names of boxes under the mouse.
  bool has_names = false;
};

std::string write_dot(std::string_view name, const GraphSketch& sketch,
                      const DotOptions& options = {});

}  // namespace torch_ir
