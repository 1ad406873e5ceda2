// An ExportedGraph under construction: nodes are added in order, and names stay unique.
#pragma once

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

  // A placeholder; `name` must be a value's.
  void add_input(InputKind kind, const std::string& name, const std::string& target,
                 const ValueMeta& meta);
  // A node whose outputs, in order, are `metas`.
  void add_node(ExportedNode node, const std::vector<ValueMeta>& metas);
  // A node of one output, named alike, after `wanted`. Returns the name.
  std::string add_value(const std::string& wanted, const std::string& target,
                        std::vector<ExportedArgument> arguments, const ValueMeta& meta);
  // The number `value` as a value of the graph.
  std::string add_number(const std::string& wanted, const Attribute& value);
  // Appends to the outputs.
  void add_output(const std::string& name) { graph_.outputs.push_back(name); }
  void add_output(const Attribute& value);

  // Null when there is none.
  const ValueMeta* find(const std::string& name) const;
  const ExportedGraph& graph() const { return graph_; }
  ExportedGraph take() { return std::move(graph_); }

 private:
  // Throws ExportError when a value has the name already.
  void define(const std::string& name, const ValueMeta& meta);

  ExportedGraph graph_;
  NodeOrigin origin_;
  std::unordered_set<std::string> taken_;
  // Names of placeholders and nodes, which must differ.
  std::unordered_set<std::string> producers_;
  std::unordered_map<std::string, int> next_number_;
};

}  // namespace torch_ir
