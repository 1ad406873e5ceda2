// match_nodes: pairs the nodes that two graphs have in common.
//
// Nodes are aligned in execution order, by operator (in place or not), by the weights and graph
// inputs that they read, by name, and by module. Names alone decide nothing, since they shift when
// a node is added or removed. Remaining nodes are paired if they moved, or if another operator took
// their place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// By value, equal in both graphs for the same thing: "input x", "weight fc.bias", or an output of a
// node with its partner. Empty for the value of a node without a partner.
using Origins = std::vector<std::string>;

bool is_same_origin(const std::string& old, const std::string& now);

struct NodeMatch {
  std::vector<std::optional<size_t>> old_of_new;
  std::vector<std::optional<size_t>> new_of_old;
  // For each new node, whether the order changed.
  std::vector<bool> is_moved;
};

// Also sets the origins of values whose nodes have partners.
NodeMatch match_nodes(const Graph& old, const Graph& now, Origins& old_origins,
                      Origins& new_origins);

}  // namespace torch_ir
