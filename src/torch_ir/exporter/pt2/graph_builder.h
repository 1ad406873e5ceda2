// An ExportedGraph under construction: nodes are added in order, and names stay unique.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

class GraphBuilder {
 public:
  // Keeps `name` from being given to anything by new_name.
  void reserve(const std::string& name) { taken_.insert(name); }
  // `wanted`, or with the first free number behind it: "add", "add_1", ... From now on taken.
  std::string new_name(const std::string& wanted);

  // Where the nodes that are added from now on come from.
  void set_origin(NodeOrigin origin) { origin_ = std::move(origin); }

  // A placeholder, called as `value`.
  ValueId add_input(InputKind kind, ExportedValue value, const std::string& target = {});
  // A node that makes `outputs`; returns them. Throws ExportError where a name is another's.
  std::vector<ValueId> add_node(ExportedNode node, std::vector<ExportedValue> outputs);
  // A node of one output, both named after `output`.
  ValueId add_value(const std::string& target, std::vector<ExportedArgument> arguments,
                    ExportedValue output);
  // The number `value` as a value of the graph.
  ValueId add_number(const std::string& wanted, const Attribute& value);
  // Appends to the outputs.
  void add_output(ValueId value) { graph_.outputs.push_back(value); }
  void add_output(const Attribute& value);

  std::optional<ValueId> find(const std::string& name) const;
  const ExportedGraph& graph() const { return graph_; }
  ExportedGraph take() { return std::move(graph_); }

 private:
  ValueId define(ExportedValue value);

  ExportedGraph graph_;
  NodeOrigin origin_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_set<std::string> taken_;
  // Names of placeholders and nodes, which must differ.
  std::unordered_set<std::string> producers_;
  std::unordered_map<std::string, int> next_number_;
};

}  // namespace torch_ir
