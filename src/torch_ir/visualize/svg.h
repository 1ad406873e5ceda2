// draw_picture: draws a picture of a graph with Graphviz.
//
// A graph of more than 60 nodes is drawn as its modules (mermaid.h). The boxes of an SVG
// show their names under the mouse. The same graph, Graphviz and fonts give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/visualize/graphviz.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {

struct SvgOptions {
  // Defaults to the model's name.
  std::string title = {};
  // A node to emphasize, such as the first one that diverges.
  std::string highlighted_node = {};
  // As in MermaidOptions.
  int64_t max_nodes = kAllNodes;
  std::string module = {};
  int64_t depth = 0;
  // One for each node, or none: nodes with different ones are never drawn as one.
  std::vector<std::string> traits = {};
  // One for each node, or none: the group of nodes in which an executor computes it, or "". Boxes
  // of one group get a frame, but not in an opened module.
  std::vector<std::string> groups = {};
  GraphvizOptions graphviz = {};
};

// Returns the file that Graphviz draws, in the format "svg" or "png". Throws Error if the module is
// unknown, or if Graphviz is missing, fails or takes too long.
std::string draw_picture(const Program& program, const std::string& format,
                         const SvgOptions& options = {});

}  // namespace torch_ir
