// match_nodes: which operators of two graphs are the same ones?
//
// For diff. An operator is known by its neighbourhood: what it calls, with which weights, on what
// such calls made, for which others (labels as Weisfeiler and Leman refine them). Operators with a
// label that is unique on both sides are paired first, in order, then, in the gaps between those,
// by weaker ones, at last by operator alone. This is done with names and without, as names shift
// when an operator comes or goes, and the better result counts. The time is nearly linear in the
// size of the graphs.
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
