// Graphs for tests, value by value.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

inline ValueId add_input(Graph& graph, const std::string& name, Value value,
                         InputKind kind = InputKind::kUserInput, const std::string& target = {}) {
  value.name = name;
  graph.inputs.push_back({kind, graph.add_value(std::move(value)), target});
  return graph.inputs.back().value;
}

inline ValueId add_node(Graph& graph, const std::string& name, const std::string& target,
                        std::vector<Argument> arguments, Value output) {
  output.name = name;
  const ValueId id = graph.add_value(std::move(output));
  graph.nodes.push_back({name, target, std::move(arguments), {id}});
  return id;
}

inline std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (const ValueId value : values) names.push_back(graph[value].name);
  return names;
}

inline Value value_of(const Graph& graph, const std::string& name) {
  return graph[graph.find(name).value()];
}

}  // namespace torch_ir
