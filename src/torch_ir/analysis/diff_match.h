// match_nodes: which operators of two graphs are the same ones?
//
// For diff. Operators are aligned in execution order by operator and by the weights and inputs of
// the graph that they read, then, between those, by operator alone. Where several places would do,
// such as for one more ReLU in a row of them, that one is taken where more calls and names agree.
// What is left is the same where an equal call reads the same values, or takes the place of as many
// other operators.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct NodeMatch {
  // For each new node the old one, and the other way round.
  std::vector<std::optional<size_t>> old_of_new;
  std::vector<std::optional<size_t>> new_of_old;
  // Of the new nodes: whether the order changed.
  std::vector<bool> is_moved;
};

// Names what a value is for both graphs, where no node of the graph makes it; empty for one that a
// node makes.
using ExternalName = std::function<std::string(const std::string& value)>;

NodeMatch match_nodes(const Graph& old, const Graph& now, const ExternalName& old_external,
                      const ExternalName& new_external);

}  // namespace torch_ir
