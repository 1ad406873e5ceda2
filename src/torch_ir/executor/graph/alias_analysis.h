// Alias analysis: which values of a graph may share memory, and which may be written in place.
//
// Told from the schemas of the operators, so always on the safe side: what is called shared may
// turn out not to be (`reshape` copies when it has to), never the other way round. A run needs it
// to leave weights, constants and inputs as they are.
#pragma once

#include <vector>

#include "torch_ir/executor/graph/lowered_graph.h"

namespace torch_ir {

struct AliasAnalysis {
  // For each value whether its memory may be written by a node.
  std::vector<bool> is_written;
  // For each value whether its memory may be that of a constant.
  std::vector<bool> may_be_constant;
  // For each value a number, the same for those that may share memory.
  std::vector<size_t> memory;
  // For each node the values that it may write to.
  std::vector<std::vector<ValueId>> writes;
};

AliasAnalysis analyze_aliases(const LoweredGraph& graph);

}  // namespace torch_ir
