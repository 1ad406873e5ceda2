// GraphValues: the values of a graph by name, and the value that each use refers to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The graph must outlive it, and need not be well formed: the first value of a name counts.
class GraphValues {
 public:
  explicit GraphValues(const IRGraph& graph);

  struct Value {
    const TensorMeta* meta = nullptr;
    // The index of the node that makes it; empty for an input of the graph.
    std::optional<size_t> maker = std::nullopt;
  };
  // Null for a weight, and for an unknown name.
  const Value* find(std::string_view name) const;

  // The first node of that name; null if there is none.
  const OpNode* find_node(std::string_view name) const;

  // The value that an input of a node, or an output of the graph, refers to: by producer, as in a
  // plan.
  const std::string& name_of(const TensorMeta& use) const;

  // Calls `visit` with the name of each value that the node reads, in attributes too.
  template <class Visit>
  void for_each_read(const OpNode& node, const Visit& visit) const {
    for (const TensorMeta& input : node.inputs) visit(name_of(input));
    for (const auto& [name, attribute] : node.attrs) {
      for (const std::string& number : value_refs(attribute)) visit(number);
    }
  }

 private:
  std::unordered_map<std::string_view, Value> values_;
  std::unordered_map<std::string_view, const OpNode*> nodes_;
};

}  // namespace torch_ir
