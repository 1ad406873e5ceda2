// graph_memory: which values of an IR may share memory, and which nodes write to it.
//
// For those who take graphs apart: what is cut from a graph must not be cut from what writes to it.
// On the safe side, as analyze_aliases (lowered_graph.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

class GraphMemory {
 public:
  // Throws as compile does.
  GraphMemory(const IR& ir, const StateDict& weights);

  // A number for the memory of the value called `name`, a graph input, a placeholder or an output
  // of a node; equal for those that may share it. Nothing for names that the graph does not have.
  std::optional<size_t> of(const std::string& name) const;

  // The memories that node `index` of the IR may write to.
  const std::vector<size_t>& written_by(size_t index) const { return writes_.at(index); }

  // Whether a node in [first, last) may write to `memory`.
  bool is_written(size_t memory, size_t first, size_t last) const;

 private:
  std::unordered_map<std::string, size_t> memories_;
  std::vector<std::vector<size_t>> writes_;
};

}  // namespace torch_ir
