#include "torch_ir/ir/program.h"

#include <fmt/format.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {

std::optional<ValueId> Graph::find(std::string_view name) const {
  const auto found = std::ranges::find(values, name, &Value::name);
  if (found == values.end()) return std::nullopt;
  return static_cast<ValueId>(found - values.begin());
}

std::unordered_map<std::string_view, ValueId> Graph::ids() const {
  std::unordered_map<std::string_view, ValueId> ids;
  for (ValueId id = 0; id < values.size(); ++id) ids.emplace(values[id].name, id);
  return ids;
}

std::vector<ValueId> Graph::user_inputs() const {
  std::vector<ValueId> user_inputs;
  for (const GraphInput& input : inputs) {
    if (input.kind == InputKind::kUserInput) user_inputs.push_back(input.value);
  }
  return user_inputs;
}

const Argument* Node::find(std::string_view argument) const {
  const auto found = std::ranges::find(arguments, argument, &Argument::name);
  return found == arguments.end() ? nullptr : &*found;
}

const Attribute* Node::find_attribute(std::string_view argument) const {
  const Argument* found = find(argument);
  return found == nullptr ? nullptr : std::get_if<Attribute>(&found->value);
}

const Argument* Node::find_opaque() const {
  const auto found = std::ranges::find_if(arguments, [](const Argument& argument) {
    const auto* attribute = std::get_if<Attribute>(&argument.value);
    return attribute != nullptr && attribute->get_if<Opaque>() != nullptr;
  });
  return found == arguments.end() ? nullptr : &*found;
}

std::vector<ValueId> Node::inputs() const {
  std::vector<ValueId> tensors;
  for (const Argument& argument : arguments) {
    for_each_value(argument, [&](ValueId id) { tensors.push_back(id); });
  }
  return tensors;
}

const Mutation* Program::find_mutation(size_t output) const {
  const auto found = std::ranges::find(mutations, output, &Mutation::output);
  return found == mutations.end() ? nullptr : &*found;
}

bool Program::is_in_place(size_t output) const {
  const Mutation* mutation = find_mutation(output);
  return mutation != nullptr && mutation->in_place;
}

SourceLines source_lines_of(const Graph& graph) {
  SourceLines lines;
  for (const Node& node : graph.nodes) {
    if (!node.origin.source.empty()) lines.emplace(node.name, node.origin.source);
  }
  return lines;
}

void set_uses(Graph& graph) {
  for (Value& value : graph.values) {
    value.producer.reset();
    value.readers.clear();
  }
  // Numbers are few: names are indexed when the first attribute refers to one.
  std::unordered_map<std::string_view, ValueId> ids;
  for (uint32_t index = 0; index < graph.nodes.size(); ++index) {
    Node& node = graph.nodes[index];
    for (Graph& inner : node.graphs) set_uses(inner);
    for (Argument& argument : node.arguments) {
      argument.numbers.clear();
      const auto* attribute = std::get_if<Attribute>(&argument.value);
      if (attribute == nullptr) continue;
      for (const std::string& name : value_refs(*attribute)) {
        if (ids.empty()) ids = graph.ids();
        const auto found = ids.find(name);
        if (found == ids.end()) {
          throw ValidationError(
              fmt::format("node '{}' refers to '{}', which is not a value of the graph",
                          printable(node.name), printable(name)));
        }
        argument.numbers.push_back(found->second);
      }
    }
    node.for_each_read([&](ValueId id) {
      std::vector<uint32_t>& readers = graph[id].readers;
      if (readers.empty() || readers.back() != index) readers.push_back(index);
    });
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      graph[node.outputs[i]].producer = index;
      graph[node.outputs[i]].output_index = i;
    }
  }
}

bool reads_storage(const Node& node) {
  if (node.target.starts_with("aten.as_strided")) return true;
  return std::ranges::any_of(node.graphs, [](const Graph& graph) {
    return std::ranges::any_of(graph.nodes, reads_storage);
  });
}

}  // namespace torch_ir
