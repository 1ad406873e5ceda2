// match_nodes: which operators of two graphs are the same ones?
//
// For diff. The graphs are aligned in the order of execution: by operator, by the weights and graph
// inputs that it reads, and by name, as far as each of them agrees. Names alone decide nothing, as
// they shift when an operator comes or goes. What is left is looked for elsewhere, as moved, and
// paired where another operator took its place.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The values of a graph, by name.
class Values {
 public:
  struct Producer {
    size_t node;
    size_t output;
  };

  // `ir` has the weights: the graph itself, or null inside conditions and loops.
  Values(const Graph& graph, const IR* ir) : graph_(graph), ir_(ir) {
    for (size_t i = 0; i < graph.graph_inputs.size(); ++i) {
      inputs_.try_emplace(graph.graph_inputs[i].name, i);
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (size_t output = 0; output < graph.nodes[i].outputs.size(); ++output) {
        producers_.try_emplace(graph.nodes[i].outputs[output].name, Producer{i, output});
      }
    }
    if (ir == nullptr) return;
    for (const TensorMeta& weight : ir->weights) weights_.try_emplace(weight.name, &weight);
  }

  const Producer* producer(const std::string& name) const {
    const auto found = producers_.find(name);
    return found == producers_.end() ? nullptr : &found->second;
  }

  std::optional<size_t> input(const std::string& name) const {
    const auto found = inputs_.find(name);
    return found == inputs_.end() ? std::nullopt : std::optional(found->second);
  }

  // The name in the state dict, or the name itself.
  const std::string& weight(const std::string& name) const {
    return is_mapped(name) ? *ir_->weight_name_mapping.find(name) : name;
  }
  bool is_mapped(const std::string& name) const {
    return ir_ != nullptr && ir_->weight_name_mapping.contains(name);
  }

  // The value where it is made or declared; null for an unknown one.
  const TensorMeta* source(const std::string& name) const {
    if (const Producer* made = producer(name)) {
      return &graph_.nodes[made->node].outputs[made->output];
    }
    if (const auto position = input(name)) return &graph_.graph_inputs[*position];
    const auto found = weights_.find(weight(name));
    return found == weights_.end() ? nullptr : found->second;
  }

  const Graph& graph() const { return graph_; }

 private:
  const Graph& graph_;
  const IR* ir_;
  std::unordered_map<std::string_view, size_t> inputs_;
  std::unordered_map<std::string_view, Producer> producers_;
  std::unordered_map<std::string_view, const TensorMeta*> weights_;
};

struct NodeMatch {
  // For each new node the old one, and the other way round.
  std::vector<std::optional<size_t>> old_of_new;
  std::vector<std::optional<size_t>> new_of_old;
  // Of the new nodes: whether the order changed.
  std::vector<bool> is_moved;
};

// Names what a value is for both graphs, where no node of the graph makes it; empty for one that a
// node makes.
using ExternalName = std::function<std::string(const std::string& value)>;

NodeMatch match_nodes(const Values& old, const Values& now, const ExternalName& old_external,
                      const ExternalName& new_external);

}  // namespace torch_ir
