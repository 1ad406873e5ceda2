// match_nodes: pairs the nodes that two graphs have in common.
//
// Nodes are aligned in execution order, by operator, by the weights and graph inputs that they
// read, and by name. Names alone decide nothing, since they shift when a node is added or removed.
// Remaining nodes are paired if they moved, or if another operator took their place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct ValueOrigin {
  // Equal in both graphs for the same thing: "input x", "weight fc.bias", or a node with its
  // partner. Empty for the value of a node without a partner.
  std::string key = {};
  const TensorMeta* source = nullptr;
};

// By the names of values.
using Origins = std::unordered_map<std::string, ValueOrigin>;

// A name that the graph lacks counts as a weight.
std::string key_of(const Origins& origins, const std::string& name);

bool is_same_origin(const std::string& old, const std::string& now);

struct NodeMatch {
  std::vector<std::optional<size_t>> old_of_new;
  std::vector<std::optional<size_t>> new_of_old;
  // For each new node, whether the order changed.
  std::vector<bool> is_moved;
};

// Also sets the keys of values whose nodes have partners.
NodeMatch match_nodes(const IRGraph& old, const IRGraph& now, Origins& old_origins,
                      Origins& new_origins);

}  // namespace torch_ir
