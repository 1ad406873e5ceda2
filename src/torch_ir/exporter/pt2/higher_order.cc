#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/pt2/graph_reader.h"
#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {
namespace {

// What torch.autocast casts to on the CPU when it is not told.
constexpr c10::ScalarType kDefaultAutocastDtype = c10::ScalarType::BFloat16;

const ArchiveArgument& argument(const ArchiveNode& node, size_t index) {
  if (index < node.arguments.size()) return node.arguments[index].value;
  throw ExportError(
      fmt::format("argument {} is missing: {} are given", index, node.arguments.size()));
}

template <class T>
const T& argument_as(const ArchiveNode& node, size_t index, const char* expected) {
  if (const T* value = std::get_if<T>(&argument(node, index))) return *value;
  throw ExportError(fmt::format("argument {} is not {}", index, expected));
}

template <class T>
const T& attribute_as(const ArchiveNode& node, size_t index, const char* expected) {
  if (const T* value = argument_as<Attribute>(node, index, expected).template get_if<T>()) {
    return *value;
  }
  throw ExportError(fmt::format("argument {} is not {}", index, expected));
}

void check_count(const char* what, size_t found, const char* of_graph, size_t expected) {
  if (expected == found) return;
  throw ExportError(fmt::format("{} {} instead of {}, the number of the graph's {}", found, what,
                                expected, of_graph));
}

// The operands that are values; the others are fixed inside the graphs.
ValueList values_among(const std::vector<Operand>& operands) {
  ValueList values;
  for (const Operand& operand : operands) {
    if (const auto* id = std::get_if<ValueId>(&operand)) values.emplace_back(*id);
  }
  return values;
}

}  // namespace

template <class Use>
auto GraphReader::with_graph(const ArchiveNode& node, size_t index, const Use& use) const {
  const JsonValue* graph = argument_as<GraphArgument>(node, index, "a graph").graph;
  const Place arguments = node.place->key("inputs");
  const Place item = arguments.item(index);
  const Place value = item.key("arg");
  const Place tagged = value.key("as_graph");
  return use(*graph, tagged.key("graph"));
}

std::vector<Operand> GraphReader::operands_from(const ArchiveNode& node, size_t first) const {
  std::vector<Operand> operands;
  for (size_t i = first; i < node.arguments.size(); ++i) {
    operands.push_back(resolve_one(node.arguments[i].value));
  }
  return operands;
}

// Its operands follow the graph.
void GraphReader::inline_graph(const ArchiveNode& node, size_t index, AutocastDtype autocast) {
  with_graph(node, index, [&](const JsonValue& graph, const Place& place) {
    const std::vector<Operand> operands = operands_from(node, index + 1);
    GraphReader inner(graph, place, GraphNames::kRenamed, builder_, autocast);
    check_count("operands", operands.size(), "inputs", inner.inputs_.size());
    check_count("outputs", node.outputs.size(), "outputs", inner.outputs_.size());
    // The values that the graph makes for `node` are called as `node`'s outputs right away.
    for (size_t i = 0; i < inner.outputs_.size(); ++i) {
      const std::string* made = referred_name(inner.outputs_[i]);
      if (made == nullptr || !node.outputs[i]) continue;
      inner.wishes_.emplace(*made, new_name(*node.outputs[i]));
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (const std::string* name = referred_name(inner.inputs_[i])) inner.bind(*name, operands[i]);
    }
    inner.read_nodes();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i]) bind(*node.outputs[i], inner.resolve(inner.outputs_[i]));
    }
  });
}

AutocastDtype GraphReader::autocast_of(const ArchiveNode& node) const {
  if (attribute_as<std::string>(node, 0, "a device") != "cpu") return autocast_;
  if (!attribute_as<bool>(node, 2, "a boolean")) return std::nullopt;
  if (argument_as<Attribute>(node, 1, "a dtype").is_none()) return kDefaultAutocastDtype;
  return attribute_as<c10::ScalarType>(node, 1, "a dtype");
}

void GraphReader::inline_with_effects(const ArchiveNode& node) {
  ArchiveNode call = node;
  call.target = argument_as<OperatorTarget>(node, 1, "an operator").target;
  // Else each level would keep a copy of the arguments left.
  if (call.target == node.target) throw ExportError("with_effects calls itself");
  call.arguments.erase(call.arguments.begin(), call.arguments.begin() + 2);
  if (node.outputs.empty()) throw ExportError("the token among the outputs is missing");
  call.outputs.erase(call.outputs.begin());
  if (node.outputs[0]) bind(*node.outputs[0], Attribute());
  add(call);
}

// A graph of a control flow operator. What is fixed among its inputs is so inside; what is fixed
// among its outputs becomes a value where the operator has one there.
ExportedGraph GraphReader::read_branch(const ArchiveNode& node, size_t index,
                                       const std::vector<Operand>& operands,
                                       bool returns_outputs) const {
  return with_graph(node, index, [&](const JsonValue& graph, const Place& place) {
    GraphBuilder builder;
    GraphReader branch(graph, place, GraphNames::kKept, builder, autocast_);
    check_count("operands", operands.size(), "inputs", branch.inputs_.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      const std::string* name = referred_name(branch.inputs_[i]);
      if (name == nullptr) continue;
      if (const auto* fixed = std::get_if<Attribute>(&operands[i])) {
        branch.bind(*name, *fixed);
      } else {
        ExportedValue input = branch.value(*name);
        input.name = *name;
        branch.bind(*name, builder.add_input(InputKind::kUserInput, std::move(input)));
      }
    }
    branch.read_nodes();
    if (returns_outputs) {
      check_count("outputs", node.outputs.size(), "outputs", branch.outputs_.size());
    }
    for (size_t i = 0; i < branch.outputs_.size(); ++i) {
      const Operand output = branch.resolve(branch.outputs_[i]);
      if (returns_outputs && !node.outputs[i]) continue;
      const auto* id = std::get_if<ValueId>(&output);
      builder.add_output(id != nullptr ? *id
                                       : builder.add_number("output", std::get<Attribute>(output)));
    }
    return builder.take();
  });
}

void GraphReader::add_cond(const ArchiveNode& node) {
  const Operand condition = resolve_one(argument(node, 0));
  const std::vector<Operand> operands = resolve_list(argument(node, 3));
  ExportedNode lowered{
      .name = {},
      .target = std::string(kCond),
      .arguments = {{"pred", as_argument(condition)}, {"operands", values_among(operands)}}};
  for (const size_t index : {1, 2}) {
    lowered.graphs.push_back(read_branch(node, index, operands, true));
  }
  add_node(node, std::move(lowered));
}

void GraphReader::add_while_loop(const ArchiveNode& node) {
  std::vector<Operand> carried = resolve_list(argument(node, 2));
  const std::vector<Operand> additional = resolve_list(argument(node, 3));
  // What is carried changes from round to round, however it begins.
  for (Operand& operand : carried) {
    if (const auto* fixed = std::get_if<Attribute>(&operand)) {
      operand = builder_.add_number(node.name + "_carried", *fixed);
    }
  }
  std::vector<Operand> operands = carried;
  operands.insert(operands.end(), additional.begin(), additional.end());
  ExportedNode lowered{.name = {},
                       .target = std::string(kWhileLoop),
                       .arguments = {{"carried_inputs", values_among(carried)},
                                     {"additional_inputs", values_among(additional)}}};
  lowered.graphs.push_back(read_branch(node, 0, operands, false));
  lowered.graphs.push_back(read_branch(node, 1, operands, true));
  add_node(node, std::move(lowered));
}

}  // namespace torch_ir
