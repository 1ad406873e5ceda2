#include "torch_ir/ir/graph_values.h"

namespace torch_ir {

GraphValues::GraphValues(const Graph& graph) {
  for (const TensorMeta& input : graph.graph_inputs) values_.try_emplace(input.name, Value{&input});
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    nodes_.try_emplace(graph.nodes[i].name, &graph.nodes[i]);
    for (const TensorMeta& output : graph.nodes[i].outputs) {
      values_.try_emplace(output.name, Value{&output, i});
    }
  }
}

const GraphValues::Value* GraphValues::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

const std::string& GraphValues::name_of(const TensorMeta& use) const {
  if (!use.producer_node) return use.name;
  const auto producer = nodes_.find(*use.producer_node);
  const auto index = static_cast<size_t>(use.producer_output_idx);
  const bool is_made = producer != nodes_.end() && index < producer->second->outputs.size();
  return is_made ? producer->second->outputs[index].name : use.name;
}

}  // namespace torch_ir
