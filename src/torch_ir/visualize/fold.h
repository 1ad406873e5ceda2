// Folds a graph into parts, so that a large graph is drawn level by level: its modules, repeats of
// equal modules or nodes, and runs of other nodes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Consecutive nodes of a graph. A part reads only values of parts before it, so parts make no
// cycles.
struct Part {
  // Its nodes, in all copies.
  size_t begin = 0;
  size_t end = 0;
  // Copies with the same operators, shapes, attributes and arrows inside; 1 if it is no repeat.
  size_t copies = 1;
  // The module's path within the enclosing part, "layers.0-11" for a repeat; the operators of other
  // nodes, "relu, add.Tensor, ..."; empty for a node that is no module of its own.
  std::string title = {};
  bool is_module = false;
  // The first copy's; none for a single node.
  std::vector<Part> children = {};
  // The positions of this part's equals, relative to it: one for each copy of the enclosing parts.
  std::vector<size_t> shifts = {0};

  bool is_node() const { return children.empty(); }
  size_t num_nodes() const { return end - begin; }
  size_t end_of_first_copy() const { return begin + (end - begin) / copies; }
};

// No part has more children.
inline constexpr size_t kMaxChildren = 24;

// The whole graph, or the nodes of `module`, a path as in module_paths.h. If the model calls the
// module several times, the first call. Throws Error if there is no such module.
Part fold_graph(const IR& ir, const std::string& module = "");

// "layers.0-11" for "layers.0" and "layers.11"; "a ... b" for other names.
std::string title_of_range(const std::string& first, const std::string& last);

}  // namespace torch_ir
