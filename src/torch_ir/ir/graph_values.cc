#include "torch_ir/ir/graph_values.h"

namespace torch_ir {

GraphValues::GraphValues(const IRGraph& graph) {
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

const OpNode* GraphValues::find_node(std::string_view name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : found->second;
}

const std::string& GraphValues::name_of(const TensorMeta& use) const {
  const OpNode* producer = use.producer_node ? find_node(*use.producer_node) : nullptr;
  const auto index = static_cast<size_t>(use.producer_output_idx);
  const bool is_made = producer != nullptr && index < producer->outputs.size();
  return is_made ? producer->outputs[index].name : use.name;
}

}  // namespace torch_ir
