// costs_by_module: the nodes and costs of a graph, one row per module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/analysis/cost.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

struct ModuleCost {
  // Empty for nodes of the model itself, and of unknown modules.
  std::string path = {};
  // By index, in the order of the graph.
  std::vector<size_t> nodes = {};
  // Sum over the nodes whose multiply-adds are known.
  int64_t multiply_adds = 0;
  // Whether the multiply-adds of all nodes are known.
  bool is_counted = true;
  // Elements of the weights that the nodes read, each weight once.
  int64_t parameters = 0;
};

// The modules (module_paths) down to the greatest depth at which there are at most 40 rows, or of
// depth 1. A module without a row of its own is part of the one around it, and a row leaves out
// the modules inside it that have rows. In the order of their last nodes, each module before those
// inside it. Empty if no node has a path. `cost` is that of `program`.
std::vector<ModuleCost> costs_by_module(const Program& program, const GraphCost& cost);

}  // namespace torch_ir
