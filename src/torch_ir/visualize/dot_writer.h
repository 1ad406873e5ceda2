// write_dot: sketches as one Graphviz graph.
//
// What ir_to_dot and the pictures have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/visualize/sketch.h"

namespace torch_ir {

struct DotOptions {
  // Attributes of the whole graph, "nslimit=2;", in Graphviz's own notation.
  std::string layout = {};
  // The operator that the node of this name is drawn as stands out.
  std::string highlighted_node = {};
  // Whether a layout that packs its parts keeps the order of the sketches.
  bool is_ordered = false;
};

// All identifiers of `sketches` differ.
std::string write_dot(std::string_view name, const std::vector<GraphSketch>& sketches,
                      const DotOptions& options = {});

}  // namespace torch_ir
