// graph_memory: the values of a program that may share memory, and the nodes that write to it.
//
// Used to take graphs apart: a cut must not separate a value from its writers.
#pragma once

#include <cstddef>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/runtime/graph/lowered_graph.h"

namespace torch_ir {

// What analyze_aliases found of a graph, kept apart from it.
class GraphMemory {
 public:
  explicit GraphMemory(const LoweredGraph& graph);

  // A number for the memory of a value, equal for values that may share memory.
  size_t of(ValueId value) const { return memory_.at(value); }

  const std::vector<size_t>& written_by(size_t node) const { return writes_.at(node); }

  // Whether a node in [first, last) writes to `memory`.
  bool is_written(size_t memory, size_t first, size_t last) const;

  // Whether this is a weight that is only a part of its storage. Files keep no more than it.
  bool is_partial(ValueId value) const { return is_partial_.at(value); }

 private:
  std::vector<size_t> memory_;
  std::vector<std::vector<size_t>> writes_;
  std::vector<bool> is_partial_;
};

// Takes operators that this process cannot run: they may return their inputs, and write to them if
// they are called so ("foo_"). Otherwise throws as compile does.
GraphMemory memory_of(const Program& program, const StateDict& weights);

// Whether a call of `node` reads storages and not only its inputs, as as_strided does.
bool reads_storage(const Node& node);

// Throws WeightError, naming node and weight, if a file of weights, which stores each by itself,
// cannot replace `weights`: a node writes to memory that two share, or reads the storage of one
// that is a part of it.
void check_storable(const Program& program, const StateDict& weights);

}  // namespace torch_ir
