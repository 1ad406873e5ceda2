// match_nodes: which operators of two graphs are the same ones?
//
// For diff. The graphs are aligned in the order of execution: by operator, by the weights and graph
// inputs that it reads, and by name, as far as each of them agrees. Names alone decide nothing, as
// they shift when an operator comes or goes. What is left is looked for elsewhere, as moved, and
// paired where another operator took its place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Where a value comes from.
struct Origin {
  // Equal in both graphs for what is the same: "input x", "weight fc.bias", or a node with its
  // partner. Empty for what a node makes that has none.
  std::string key = {};
  // The value where it is made or declared; null for an unknown one.
  const TensorMeta* source = nullptr;
};

// By the names of values.
using Origins = std::unordered_map<std::string, Origin>;

// The key of what the graph does not have is that of a weight.
std::string key_of(const Origins& origins, const std::string& name);

// Whether two keys are of the same value.
bool is_same_origin(const std::string& old, const std::string& now);

struct NodeMatch {
  // For each new node the old one, and the other way round.
  std::vector<std::optional<size_t>> old_of_new;
  std::vector<std::optional<size_t>> new_of_old;
  // Of the new nodes: whether the order changed.
  std::vector<bool> is_moved;
};

// Sets the keys of what nodes with partners make.
NodeMatch match_nodes(const Graph& old, const Graph& now, Origins& old_origins,
                      Origins& new_origins);

}  // namespace torch_ir
