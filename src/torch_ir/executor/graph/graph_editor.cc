#include "torch_ir/executor/graph/graph_editor.h"

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {

GraphEditor::GraphEditor(LoweredGraph& graph)
    : graph_(graph),
      is_removed_(graph.nodes.size(), false),
      users_(graph.values.size()),
      producers_(graph.values.size()),
      is_output_(graph.values.size(), false) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) link(i);
  for (const GraphPort& output : graph.outputs) is_output_[output.value] = true;
}

void GraphEditor::link(size_t index) {
  const LoweredNode& node = graph_.nodes[index];
  visit_values(node, [&](ValueId value) { users_[value].push_back(index); });
  for (const ValueId value : node.outputs) producers_[value] = index;
}

void GraphEditor::unlink(size_t index) {
  const LoweredNode& node = graph_.nodes[index];
  visit_values(node, [&](ValueId value) { std::erase(users_[value], index); });
  for (const ValueId value : node.outputs) producers_[value].reset();
}

void GraphEditor::finish() {
  size_t index = 0;
  std::erase_if(graph_.nodes, [&](const LoweredNode&) { return is_removed_[index++]; });
}

std::optional<size_t> GraphEditor::producer(ValueId value) const { return producers_[value]; }

std::optional<size_t> GraphEditor::only_user(ValueId value) const {
  if (is_output_[value] || users_[value].size() != 1) return std::nullopt;
  return users_[value][0];
}

bool GraphEditor::calls(size_t index, std::string_view op_type) const {
  const LoweredNode& node = graph_.nodes[index];
  const auto* op = std::get_if<c10::OperatorHandle>(&node.callee);
  return !is_removed_[index] && op != nullptr && op_type_name(op->operator_name()) == op_type;
}

size_t GraphEditor::position(size_t index, std::string_view name) const {
  const auto& op = std::get<c10::OperatorHandle>(graph_.nodes[index].callee);
  return static_cast<size_t>(op.schema().argumentIndexWithName(name).value());
}

const NodeArgument& GraphEditor::argument(size_t index, std::string_view name) const {
  return graph_.nodes[index].arguments[position(index, name)];
}

std::optional<ValueId> GraphEditor::value(size_t index, std::string_view name) const {
  const auto* use = std::get_if<ValueUse>(&argument(index, name));
  return use == nullptr ? std::nullopt : std::optional(use->value);
}

at::Tensor GraphEditor::constant(size_t index, std::string_view name) const {
  const auto id = value(index, name);
  return id ? graph_.values[*id].constant : at::Tensor();
}

const TensorMeta* GraphEditor::meta(size_t index, std::string_view name) const {
  const auto id = value(index, name);
  const bool is_made = id && !graph_.values[*id].constant.defined();
  return is_made ? &graph_.values[*id].meta : nullptr;
}

c10::IValue GraphEditor::fixed(size_t index, std::string_view name) const {
  const auto* fixed = std::get_if<c10::IValue>(&argument(index, name));
  return fixed == nullptr ? c10::IValue() : *fixed;
}

NodeArgument GraphEditor::add_constant(at::Tensor constant) {
  graph_.values.push_back({{}, std::move(constant)});
  users_.emplace_back();
  producers_.emplace_back();
  is_output_.push_back(false);
  return ValueUse{static_cast<ValueId>(graph_.values.size() - 1)};
}

void GraphEditor::set_argument(size_t index, std::string_view name, NodeArgument argument) {
  unlink(index);
  graph_.nodes[index].arguments[position(index, name)] = std::move(argument);
  link(index);
}

void GraphEditor::replace(size_t index, const std::string& op_type,
                          std::vector<NodeArgument> arguments) {
  const auto op = find_operator(op_type);
  if (!op)
    throw ExecutionError("Operator '" + printable(op_type) + "' is unknown to this LibTorch.");
  unlink(index);
  graph_.nodes[index].callee = *op;
  graph_.nodes[index].arguments = std::move(arguments);
  link(index);
}

void GraphEditor::absorb(size_t earlier, size_t later) {
  unlink(earlier);
  unlink(later);
  graph_.nodes[later].callee = graph_.nodes[earlier].callee;
  graph_.nodes[later].arguments = std::move(graph_.nodes[earlier].arguments);
  graph_.nodes[later].outputs.resize(1);
  is_removed_[earlier] = true;
  link(later);
}

}  // namespace torch_ir
