// What diff says of values, and where it finds them.
//
// For diff.cc and diff_tables.cc.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// "float32 [1, 3, s0]", "int s0 + 1"
std::string form_text(const TensorMeta& value);
std::string form_text(const at::Tensor& tensor);

std::string text_of(const Attribute& attribute);

// The parts of a graph by the names of its values.
class Values {
 public:
  struct Producer {
    size_t node;
    size_t output;
  };

  // `mapping` is that of the weights, null inside conditions and loops.
  Values(const Graph& graph, const torch::OrderedDict<std::string, std::string>* mapping)
      : graph_(graph), mapping_(mapping) {
    for (size_t i = 0; i < graph.graph_inputs.size(); ++i) {
      inputs_.try_emplace(graph.graph_inputs[i].name, i);
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (size_t output = 0; output < graph.nodes[i].outputs.size(); ++output) {
        producers_.try_emplace(graph.nodes[i].outputs[output].name, Producer{i, output});
      }
    }
  }

  const Graph& graph() const { return graph_; }

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
    const std::string* mapped = mapping_ == nullptr ? nullptr : mapping_->find(name);
    return mapped == nullptr ? name : *mapped;
  }

  bool is_mapped(const std::string& name) const {
    return mapping_ != nullptr && mapping_->contains(name);
  }

  // The form of the value where it is made; null for one that is not in the graph, as weights are.
  const TensorMeta* source(const std::string& name) const {
    if (const Producer* made = producer(name))
      return &graph_.nodes[made->node].outputs[made->output];
    const auto position = input(name);
    return position ? &graph_.graph_inputs[*position] : nullptr;
  }

 private:
  const Graph& graph_;
  const torch::OrderedDict<std::string, std::string>* mapping_;
  std::unordered_map<std::string_view, size_t> inputs_;
  std::unordered_map<std::string_view, Producer> producers_;
};

}  // namespace torch_ir
