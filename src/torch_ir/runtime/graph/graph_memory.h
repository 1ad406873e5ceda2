// graph_memory: the values of an IR that may share memory, and the nodes that write to it.
//
// Used to take graphs apart: a cut must not separate a value from its writers. Conservative, as
// analyze_aliases (lowered_graph.h) is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

struct LoweredGraph;

class GraphMemory {
 public:
  // Throws as compile does, but takes operators that this process cannot run: they may return their
  // inputs, and write to them if they are called so ("foo_").
  GraphMemory(const IR& ir, const StateDict& weights);
  explicit GraphMemory(const LoweredGraph& graph);

  // A number for the memory of a graph input, placeholder or node output, equal for values that may
  // share memory. Nothing for unknown names.
  std::optional<size_t> of(const std::string& name) const;

  const std::vector<size_t>& written_by(size_t index) const { return writes_.at(index); }

  bool is_written(size_t memory, size_t first, size_t last) const;

  // Whether this weight, a placeholder, is only a part of its storage. Files keep no more than it.
  bool is_partial(const std::string& weight) const { return partial_.contains(weight); }

 private:
  std::unordered_map<std::string, size_t> memories_;
  std::vector<std::vector<size_t>> writes_;
  std::unordered_set<std::string> partial_;
};

// Whether a call of `node` reads storages and not only its inputs, as as_strided does.
bool reads_storage(const Node& node);
bool reads_storage(const OpNode& node);

// Throws WeightError, naming node and weight, if a file of weights, which stores each by itself,
// cannot replace `weights`: a node writes to memory that two share, or reads the storage of one
// that is a part of it.
void check_storable(const Program& program, const StateDict& weights);

}  // namespace torch_ir
