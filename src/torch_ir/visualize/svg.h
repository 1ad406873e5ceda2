// Pictures of an IR, by Graphviz.
//
// For the reports and for `torch-ir visualize`. A small graph is one drawing; a large one, or one
// whose arrows reach far, is drawn in sections, in columns that are read from left to right, so
// that any graph is drawn in time. The same graph, Graphviz and fonts give the same bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct SvgOptions {
  // What the graph is called; the model's name where empty.
  std::string title = {};
  // The name of a node that stands out, as the first that computes something else.
  std::string highlighted_node = {};
  // Nodes to show; a note counts the rest.
  size_t max_nodes = 10'000;
  // After which a picture with fewer nodes is tried, for a tenth of it.
  std::chrono::duration<double> time_limit = std::chrono::seconds(60);
  // What Graphviz has to say beside the picture.
  std::function<void(const std::string&)> on_warning = {};
};

// An SVG document with a title and a description, on a white ground, without scripts, fonts and
// references to anything outside. Each group of class "node" has the name of its node or value as
// its title. Throws Error when Graphviz is missing, fails or takes too long.
std::string ir_to_svg(const IR& ir, const SvgOptions& options = {});

// The same as PNG.
std::string ir_to_png(const IR& ir, const SvgOptions& options = {});

}  // namespace torch_ir
