// Draws pictures of an IR with Graphviz.
//
// A large graph, or one with long arrows, is drawn in sections, in columns that are read from left
// to right, so that any graph is drawn in time. The same graph, Graphviz and fonts give the same
// bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct SvgOptions {
  // Defaults to the model's name.
  std::string title = {};
  // A node to emphasize, such as the first one that diverges.
  std::string highlighted_node = {};
  size_t max_nodes = 10'000;
  // After a timeout, a picture with fewer nodes is tried, for a tenth of the time.
  std::chrono::duration<double> time_limit = std::chrono::seconds(60);
  std::function<void(const std::string&)> on_warning = {};
};

// Returns an SVG document with a title and a description, on a white ground, without scripts, fonts
// and external references. Each group of class "node" has the name of its node or value as its
// title. Throws Error if Graphviz is missing, fails or takes too long.
std::string ir_to_svg(const IR& ir, const SvgOptions& options = {});

std::string ir_to_png(const IR& ir, const SvgOptions& options = {});

}  // namespace torch_ir
