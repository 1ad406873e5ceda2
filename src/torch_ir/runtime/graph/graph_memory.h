// GraphMemory: the values of a graph that may share memory, and the nodes that write to it.
//
// A run uses it to keep weights, constants and inputs intact, a cut to keep a value and its writers
// together. Conservative, as it uses only the schemas: values that it says share memory may not
// (`reshape` copies if it has to), but never the reverse.
#pragma once

#include <cstddef>
#include <vector>

#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

struct LoweredGraph;

class GraphMemory {
 public:
  GraphMemory() = default;
  explicit GraphMemory(const LoweredGraph& graph);

  // A number for the memory of a value, equal for values that may share memory.
  size_t of(ValueId value) const { return memory_.at(value); }

  // The memory that a node writes to. An operator that this process cannot run writes if it is
  // called so ("foo_").
  const std::vector<size_t>& written_by(size_t node) const { return writes_.at(node); }

  // Whether any node writes to the memory of a value.
  bool is_written(ValueId value) const { return is_written_.at(value); }

  // Whether a node in [first, last) writes to `memory`.
  bool is_written(size_t memory, size_t first, size_t last) const;

  // Whether this is a weight that is only a part of its storage. Files keep no more than it.
  bool is_partial(ValueId value) const { return is_partial_.at(value); }

  // Whether this is a weight or constant, or may be a view of one.
  bool may_be_constant(ValueId value) const { return may_be_constant_.at(value); }

 private:
  // By ValueId, but `writes_` by node.
  std::vector<size_t> memory_;
  std::vector<std::vector<size_t>> writes_;
  std::vector<bool> is_written_;
  std::vector<bool> may_be_constant_;
  std::vector<bool> is_partial_;
};

// Takes operators that this process cannot run: they may return their inputs, and write to them if
// they are called so ("foo_"). Otherwise throws as compile does.
GraphMemory memory_of(const Case& graph_case);

// Throws WeightError, naming node and weight, if a file of weights, which stores each by itself,
// cannot replace the weights: a node writes to memory that two share, or reads the storage of one
// that is a part of it.
void check_storable(const Case& graph_case);

}  // namespace torch_ir
