// fold_graph: divides a graph into nested parts, so that a large graph can be drawn level by level.
//
// Parts are modules, repeats of equal modules or nodes, and runs of other nodes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// Consecutive nodes of a graph. A part reads only values of earlier parts, so the arrows between
// parts form no cycles.
struct Part {
  // Its nodes, in all copies.
  size_t begin = 0;
  size_t end = 0;
  // The number of copies with the same operators, shapes, attributes and arrows inside.
  size_t copies = 1;
  // For a module, its path within the enclosing part ("layers.0-11" for a repeat); for other nodes,
  // their operators ("relu, add.Tensor, ..."); empty for a node that is not a module by itself.
  std::string title = {};
  bool is_module = false;
  // The parts of the first copy; none for a single node.
  std::vector<Part> children = {};
  // The offsets of the equal parts from this one, one for each copy of the enclosing parts.
  std::vector<size_t> shifts = {0};

  bool is_node() const { return children.empty(); }
  size_t num_nodes() const { return end - begin; }
  size_t end_of_first_copy() const { return begin + (end - begin) / copies; }
  // The nodes of all equal parts, in ascending order.
  std::vector<size_t> equal_nodes() const;
};

// The most children of a part.
inline constexpr size_t kMaxChildren = 24;

// The whole graph, or the nodes of `module`, a path as in module_paths. If the model calls the
// module several times, this is the first call. Nodes with different `traits`, one for each node or
// none, are not equal. Throws Error for an unknown module.
Part fold_graph(const Program& graph, const std::string& module = "",
                const std::vector<std::string>& traits = {});

// "layers.0-11" for "layers.0" and "layers.11"; "a ... b" for other names.
std::string title_of_range(const std::string& first, const std::string& last);

}  // namespace torch_ir
