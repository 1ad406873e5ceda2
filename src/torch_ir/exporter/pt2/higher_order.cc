#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/pt2/lower_graph.h"
#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {
namespace {

// What torch.autocast casts to on the CPU when it is not told.
constexpr c10::ScalarType kDefaultAutocastDtype = c10::ScalarType::BFloat16;

const SerializedValue& argument(const SerializedNode& node, size_t index) {
  if (index < node.arguments.size()) return node.arguments[index].value;
  throw ExportError(
      fmt::format("argument {} is missing: {} are given", index, node.arguments.size()));
}

template <class T>
const T& argument_as(const SerializedNode& node, size_t index, const char* expected) {
  if (const T* value = std::get_if<T>(&argument(node, index))) return *value;
  throw ExportError(fmt::format("argument {} is not {}", index, expected));
}

const SerializedGraph& graph_argument(const SerializedNode& node, size_t index) {
  return *argument_as<SerializedGraphPointer>(node, index, "a graph");
}

std::vector<Attribute> operands_from(const SerializedNode& node, size_t first, const Scope& scope) {
  std::vector<Attribute> operands;
  for (size_t i = first; i < node.arguments.size(); ++i) {
    operands.push_back(scope.resolve_one(node.arguments[i].value));
  }
  return operands;
}

void check_count(const char* what, size_t expected, const char* other, size_t found) {
  if (expected == found) return;
  throw ExportError(
      fmt::format("{} {} instead of {}, the number of {}", found, what, expected, other));
}

// The values that the graph makes for `node` are called as `node`'s outputs right away.
void wish_output_names(const SerializedNode& node, const SerializedGraph& graph,
                       const LoweringContext& outer, Scope& inner) {
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string* made = referred_name(graph.outputs[i]);
    if (made != nullptr && node.outputs[i]) {
      inner.wish(*made, outer.scope.new_name(*node.outputs[i], outer.builder));
    }
  }
}

void inline_graph(const SerializedNode& node, const SerializedGraph& graph,
                  const std::vector<Attribute>& operands, const LoweringContext& context) {
  check_count("operands", graph.inputs.size(), "the graph's inputs", operands.size());
  check_count("outputs", graph.outputs.size(), "the graph's outputs", node.outputs.size());
  Scope inner(graph, Scope::Names::kRenamed);
  wish_output_names(node, graph, context, inner);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (const std::string* name = referred_name(graph.inputs[i])) inner.bind(*name, operands[i]);
  }
  lower_nodes({inner, context.builder, context.autocast});
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i])
      context.scope.bind(*node.outputs[i],
                         inner.resolve_one(graph.outputs[i], "an output of a graph"));
  }
}

// A graph of a control flow operator. What is fixed among its inputs is so inside; what is fixed
// among its outputs becomes a value where the operator has one there.
ExportedGraph lower_branch(const SerializedNode& node, const SerializedGraph& graph,
                           const std::vector<Attribute>& operands, bool returns_outputs,
                           const AutocastDtype& autocast) {
  check_count("operands", graph.inputs.size(), "the graph's inputs", operands.size());
  Scope scope(graph, Scope::Names::kKept);
  GraphBuilder builder;
  reserve_names(graph, builder);
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string* name = referred_name(graph.inputs[i]);
    if (name == nullptr) continue;
    if (operands[i].get_if<ValueRef>() == nullptr) {
      scope.bind(*name, operands[i]);
    } else {
      builder.add_input(InputKind::kUserInput, *name, "", scope.meta(*name));
      scope.bind(*name, ValueRef{*name});
    }
  }
  lower_nodes({scope, builder, autocast});
  if (returns_outputs) {
    check_count("outputs", graph.outputs.size(), "the graph's outputs", node.outputs.size());
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Attribute output = scope.resolve_one(graph.outputs[i], "an output of a graph");
    const bool is_wanted = !returns_outputs || node.outputs[i].has_value();
    if (!is_wanted) continue;
    const auto* ref = output.get_if<ValueRef>();
    builder.add_output(ref == nullptr ? builder.add_number("output", output) : ref->name);
  }
  return builder.take();
}

// The operands that are values; the others are fixed inside the graphs.
ValueList values_among(const std::vector<Attribute>& operands) {
  ValueList values;
  for (const Attribute& operand : operands) {
    if (const auto* ref = operand.get_if<ValueRef>()) values.emplace_back(*ref);
  }
  return values;
}

void add_control_flow(const SerializedNode& node, std::string_view op_type,
                      std::vector<ExportedArgument> arguments, std::vector<ExportedGraph> graphs,
                      const LoweringContext& context) {
  ExportedNode lowered;
  lowered.target = std::string(op_type);
  lowered.arguments = std::move(arguments);
  lowered.graphs = std::move(graphs);
  std::vector<ValueMeta> metas;
  for (const auto& output : node.outputs) {
    if (!output) continue;
    lowered.outputs.push_back(context.scope.new_name(*output, context.builder));
    metas.push_back(context.scope.meta(*output));
    context.scope.bind(*output, ValueRef{lowered.outputs.back()});
  }
  lowered.name = node.name.empty()
                     ? context.builder.new_name(lowered.target.substr(lowered.target.find('.') + 1))
                     : context.scope.new_name(node.name, context.builder);
  context.builder.add_node(std::move(lowered), metas);
}

AutocastDtype autocast_dtype(const SerializedNode& node, const LoweringContext& context) {
  const auto& device = argument_as<Attribute>(node, 0, "a device");
  const auto* device_type = device.get_if<std::string>();
  if (device_type == nullptr) throw ExportError("argument 0 is not a device");
  if (*device_type != "cpu") return context.autocast;
  const auto& dtype = argument_as<Attribute>(node, 1, "a dtype");
  const auto* enabled = argument_as<Attribute>(node, 2, "a boolean").get_if<bool>();
  if (enabled == nullptr) throw ExportError("argument 2 is not a boolean");
  if (!*enabled) return std::nullopt;
  if (dtype.is_none()) return kDefaultAutocastDtype;
  if (const auto* value = dtype.get_if<c10::ScalarType>()) return *value;
  throw ExportError("argument 1 is not a dtype");
}

}  // namespace

void inline_set_grad_enabled(const SerializedNode& node, const LoweringContext& context) {
  inline_graph(node, graph_argument(node, 1), operands_from(node, 2, context.scope), context);
}

void inline_autocast(const SerializedNode& node, const LoweringContext& context) {
  inline_graph(node, graph_argument(node, 4), operands_from(node, 5, context.scope),
               {context.scope, context.builder, autocast_dtype(node, context)});
}

void inline_with_effects(const SerializedNode& node, const LoweringContext& context) {
  SerializedNode call;
  call.name = node.name;
  call.target = argument_as<OperatorTarget>(node, 1, "an operator").target;
  call.arguments.assign(node.arguments.begin() + 2, node.arguments.end());
  if (node.outputs.empty()) throw ExportError("the token among the outputs is missing");
  call.outputs.assign(node.outputs.begin() + 1, node.outputs.end());
  if (node.outputs[0]) context.scope.bind(*node.outputs[0], Attribute());
  lower_node(call, context);
}

void lower_cond(const SerializedNode& node, const LoweringContext& context) {
  const Attribute condition = context.scope.resolve_one(argument(node, 0));
  const std::vector<Attribute> operands = context.scope.resolve_list(argument(node, 3));
  ExportedArgument pred{"pred", condition};
  if (const auto* ref = condition.get_if<ValueRef>()) {
    if (!context.builder.find(ref->name)->is_scalar) pred.value = *ref;
  }
  std::vector<ExportedGraph> branches;
  for (const size_t index : {1, 2}) {
    branches.push_back(
        lower_branch(node, graph_argument(node, index), operands, true, context.autocast));
  }
  add_control_flow(node, kCond, {std::move(pred), {"operands", values_among(operands)}},
                   std::move(branches), context);
}

void lower_while_loop(const SerializedNode& node, const LoweringContext& context) {
  std::vector<Attribute> carried = context.scope.resolve_list(argument(node, 2));
  const std::vector<Attribute> additional = context.scope.resolve_list(argument(node, 3));
  // What is carried changes from round to round, however it begins.
  for (Attribute& operand : carried) {
    if (operand.get_if<ValueRef>() == nullptr) {
      operand = ValueRef{context.builder.add_number(node.name + "_carried", operand)};
    }
  }
  std::vector<Attribute> operands = carried;
  operands.insert(operands.end(), additional.begin(), additional.end());
  std::vector<ExportedGraph> graphs;
  graphs.push_back(lower_branch(node, graph_argument(node, 0), operands, false, context.autocast));
  graphs.push_back(lower_branch(node, graph_argument(node, 1), operands, true, context.autocast));
  add_control_flow(
      node, kWhileLoop,
      {{"carried_inputs", values_among(carried)}, {"additional_inputs", values_among(additional)}},
      std::move(graphs), context);
}

}  // namespace torch_ir
