// graph_part: a part of a graph that is a graph itself.
//
// Nodes in a row, less those that the wanted values do not need; what the nodes before them make
// becomes graph inputs. For reproducers. Sizes that differ from run to run are fixed to those of
// one run, so a part has no symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/executor/graph/graph_memory.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The sizes of values in one run, by name.
using ValueShapes = std::unordered_map<std::string, std::vector<int64_t>>;

struct GraphPart {
  // Its inputs are named as the values are that they stand for: graph inputs, outputs of nodes, and
  // placeholders of weights that nodes before the part write to.
  IR ir;
  // Indices in the whole graph, ascending.
  std::vector<size_t> nodes;
  // Why it would not compute what the whole graph does on the same values; empty when it would:
  // what shares memory with one another, and is written to, has to be cut as one.
  std::string problem;
};

// The part of `ir` that makes `outputs` out of nodes [first, last].
GraphPart make_graph_part(const IR& ir, const GraphMemory& memory, const ValueShapes& shapes,
                          size_t first, size_t last, const std::vector<std::string>& outputs);

}  // namespace torch_ir
