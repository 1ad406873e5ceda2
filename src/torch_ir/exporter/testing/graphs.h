// Graphs for tests, value by value.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

inline ValueId add_input(ExportedGraph& graph, const std::string& name, ExportedValue value,
                         InputKind kind = InputKind::kUserInput, const std::string& target = {}) {
  value.name = name;
  graph.inputs.push_back({kind, graph.add_value(std::move(value)), target});
  return graph.inputs.back().value;
}

inline ValueId add_node(ExportedGraph& graph, const std::string& name, const std::string& target,
                        std::vector<ExportedArgument> arguments, ExportedValue output) {
  output.name = name;
  const ValueId id = graph.add_value(std::move(output));
  graph.nodes.push_back({name, target, std::move(arguments), {id}});
  return id;
}

inline std::vector<std::string> names_of(const ExportedGraph& graph,
                                         const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (const ValueId value : values) names.push_back(graph[value].name);
  return names;
}

inline ExportedValue value_of(const ExportedGraph& graph, const std::string& name) {
  return graph[graph.find(name).value()];
}

}  // namespace torch_ir
