#include "torch_ir/executor/graph/graph_editor.h"

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {

GraphEditor::GraphEditor(PlanGraph& graph)
    : graph_(graph),
      is_removed_(graph.nodes.size(), false),
      users_(graph.values.size()),
      producers_(graph.values.size()),
      is_output_(graph.values.size(), false),
      metas_(graph.values.size(), nullptr) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    metas_[graph.inputs[i]] = &graph.source->graph_inputs[i];
  }
  for (const PlanNode& node : graph.nodes) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      metas_[node.outputs[i]] = &node.source->outputs[i];
    }
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) link(i);
  for (const ValueId value : graph.outputs) is_output_[value] = true;
}

void GraphEditor::link(size_t index) {
  const PlanNode& node = graph_.nodes[index];
  for (const ValueId value : values_of(node)) users_[value].push_back(index);
  for (const ValueId value : node.outputs) producers_[value] = index;
}

void GraphEditor::unlink(size_t index) {
  const PlanNode& node = graph_.nodes[index];
  for (const ValueId value : values_of(node)) std::erase(users_[value], index);
  for (const ValueId value : node.outputs) producers_[value].reset();
}

void GraphEditor::finish() {
  size_t index = 0;
  std::erase_if(graph_.nodes, [&](const PlanNode&) { return is_removed_[index++]; });
}

std::optional<size_t> GraphEditor::producer(ValueId value) const { return producers_[value]; }

std::optional<size_t> GraphEditor::only_user(ValueId value) const {
  if (is_output_[value] || users_[value].size() != 1) return std::nullopt;
  return users_[value][0];
}

bool GraphEditor::calls(size_t index, std::string_view op_type) const {
  const PlanNode& node = graph_.nodes[index];
  const auto* op = std::get_if<c10::OperatorHandle>(&node.callee);
  return !is_removed_[index] && op != nullptr && op_type_name(op->operator_name()) == op_type;
}

size_t GraphEditor::position(size_t index, std::string_view name) const {
  const auto& op = std::get<c10::OperatorHandle>(graph_.nodes[index].callee);
  return static_cast<size_t>(op.schema().argumentIndexWithName(name).value());
}

const PlanArgument& GraphEditor::argument(size_t index, std::string_view name) const {
  return graph_.nodes[index].arguments[position(index, name)];
}

std::optional<ValueId> GraphEditor::value(size_t index, std::string_view name) const {
  const auto* value = std::get_if<ValueId>(&argument(index, name));
  return value == nullptr ? std::nullopt : std::optional(*value);
}

at::Tensor GraphEditor::constant(size_t index, std::string_view name) const {
  const auto id = value(index, name);
  return id ? graph_.values[*id].constant : at::Tensor();
}

const TensorMeta* GraphEditor::meta(size_t index, std::string_view name) const {
  const auto id = value(index, name);
  return id ? metas_[*id] : nullptr;
}

c10::IValue GraphEditor::fixed(size_t index, std::string_view name) const {
  const auto* fixed = std::get_if<c10::IValue>(&argument(index, name));
  return fixed == nullptr ? c10::IValue() : *fixed;
}

ValueId GraphEditor::add_constant(at::Tensor constant) {
  graph_.values.push_back({{}, std::move(constant)});
  users_.emplace_back();
  producers_.emplace_back();
  is_output_.push_back(false);
  metas_.push_back(nullptr);
  return static_cast<ValueId>(graph_.values.size() - 1);
}

void GraphEditor::set_argument(size_t index, std::string_view name, PlanArgument argument) {
  unlink(index);
  graph_.nodes[index].arguments[position(index, name)] = std::move(argument);
  link(index);
}

void GraphEditor::replace(size_t index, const std::string& op_type,
                          std::vector<PlanArgument> arguments) {
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
