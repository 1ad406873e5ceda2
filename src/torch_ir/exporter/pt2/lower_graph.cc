#include "torch_ir/exporter/pt2/lower_graph.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/higher_order.h"
#include "torch_ir/exporter/pt2/targets.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

using ArgumentValue = decltype(ExportedArgument::value);

bool is_number(const Operand& operand, const GraphBuilder& builder) {
  const auto* ref = std::get_if<ValueRef>(&operand);
  return ref == nullptr || builder.find(ref->name)->is_scalar;
}

// Numbers are attributes, whichever kind of argument the archive refers to them by.
ArgumentValue lower_one(const Operand& operand, const GraphBuilder& builder) {
  const auto* ref = std::get_if<ValueRef>(&operand);
  if (ref == nullptr) return std::get<Attribute>(operand);
  if (is_number(operand, builder)) return Attribute(*ref);
  return *ref;
}

ArgumentValue lower_values(const ValueList& values, const LoweringContext& context) {
  const std::vector<Operand> operands = context.scope.resolve_list(values);
  const auto is_tensor = [&](const Operand& operand) {
    return !is_number(operand, context.builder);
  };
  if (!operands.empty() && std::ranges::none_of(operands, is_tensor) &&
      std::ranges::all_of(values, [](const auto& value) { return value.has_value(); })) {
    Attribute::List numbers;
    for (const Operand& operand : operands) {
      numbers.push_back(std::get<Attribute>(lower_one(operand, context.builder)));
    }
    return Attribute(std::move(numbers));
  }
  ValueList tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!values[i]) {
      tensors.emplace_back(std::nullopt);
    } else if (is_tensor(operands[i])) {
      tensors.emplace_back(std::get<ValueRef>(operands[i]));
    } else {
      throw ExportError(
          fmt::format("'{}' in a list of tensors is a number", printable(values[i]->name)));
    }
  }
  return tensors;
}

ArgumentValue lower_value(const SerializedValue& value, const LoweringContext& context) {
  if (const auto* values = std::get_if<ValueList>(&value)) return lower_values(*values, context);
  return lower_one(context.scope.resolve_one(value), context.builder);
}

// The schema names arguments that the archive gives by position; those of Python's functions are
// always positional.
std::string argument_name(const SerializedNode& node, size_t index,
                          const c10::FunctionSchema* schema) {
  const std::string& name = node.arguments[index].name;
  const bool is_positional = name.empty() || !node.target.starts_with("torch.ops.");
  if (!is_positional) return name;
  if (schema == nullptr) {
    throw ExportError(
        kNotSupported,
        fmt::format(
            "argument {} has no name, and the operator is not known here; load the library that "
            "registers it",
            index));
  }
  if (index >= schema->arguments().size()) {
    throw ExportError(fmt::format("{} arguments are given, but the operator takes {}",
                                  node.arguments.size(), schema->arguments().size()));
  }
  return schema->arguments()[index].name();
}

std::vector<ExportedArgument> lower_arguments(const SerializedNode& node,
                                              const LoweringContext& context) {
  const c10::FunctionSchema* schema = find_schema(op_type_of_target(node.target));
  std::vector<ExportedArgument> arguments;
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    std::string name = argument_name(node, i, schema);
    if (std::ranges::find(arguments, name, &ExportedArgument::name) != arguments.end()) {
      throw ExportError(fmt::format("the argument '{}' is given twice", printable(name)));
    }
    try {
      arguments.push_back({name, lower_value(node.arguments[i].value, context)});
    } catch (const ExportError& error) {
      throw ExportError(error, fmt::format("argument '{}': {}", printable(name), error.what()));
    }
  }
  return arguments;
}

// "add_Tensor" for "torch.ops.aten.add.Tensor": as FX calls nodes.
std::string name_after_target(const std::string& target) {
  std::string name = op_type_of_target(target);
  name.erase(0, name.find('.') + 1);
  std::ranges::replace(name, '.', '_');
  return name;
}

// A node of one output is called as its output wherever it is so in the archive. Archives of old
// schemas name no nodes at all.
std::string node_name(const SerializedNode& node, const std::vector<std::string>& outputs,
                      const LoweringContext& context) {
  const bool is_single = node.outputs.size() == 1 && outputs.size() == 1;
  if (is_single && (node.name.empty() || node.name == *node.outputs[0])) return outputs[0];
  if (node.name.empty()) return context.builder.new_name(name_after_target(node.target));
  return context.scope.new_name(node.name, context.builder);
}

void lower_operator(const SerializedNode& node, const LoweringContext& context) {
  ExportedNode lowered;
  lowered.target = op_type_of_target(node.target);
  lowered.arguments = lower_arguments(node, context);
  std::vector<ValueMeta> metas;
  for (const auto& output : node.outputs) {
    // What an operator leaves undefined is no output.
    if (!output) continue;
    lowered.outputs.push_back(context.scope.new_name(*output, context.builder));
    metas.push_back(context.scope.meta(*output));
    context.scope.bind(*output, ValueRef{lowered.outputs.back()});
  }
  lowered.name = node_name(node, lowered.outputs, context);
  if (context.autocast) {
    add_under_autocast(std::move(lowered), metas, *context.autocast, context.builder);
  } else {
    context.builder.add_node(std::move(lowered), metas);
  }
}

void lower_by_kind(const SerializedNode& node, const LoweringContext& context) {
  switch (kind_of_target(node.target)) {
    case TargetKind::kOperator:
      return lower_operator(node, context);
    case TargetKind::kNothing:
      return;
    case TargetKind::kSetGradEnabled:
      return inline_set_grad_enabled(node, context);
    case TargetKind::kAutocast:
      return inline_autocast(node, context);
    case TargetKind::kWithEffects:
      return inline_with_effects(node, context);
    case TargetKind::kCondition:
      return lower_cond(node, context);
    case TargetKind::kLoop:
      return lower_while_loop(node, context);
    case TargetKind::kUnsupported:
      throw ExportError(kNotSupported, "the operator is not supported");
  }
}

bool is_inlined(TargetKind kind) {
  return kind == TargetKind::kSetGradEnabled || kind == TargetKind::kAutocast ||
         kind == TargetKind::kWithEffects;
}

}  // namespace

void lower_node(const SerializedNode& node, const LoweringContext& context) {
  try {
    lower_by_kind(node, context);
  } catch (const ExportError& error) {
    throw ExportError(error, fmt::format("node '{}' ({}): {}", printable(node.name),
                                         printable(op_type_of_target(node.target)), error.what()));
  }
}

void lower_nodes(const LoweringContext& context) {
  for (const SerializedNode& node : context.scope.graph().nodes) lower_node(node, context);
}

void reserve_names(const SerializedGraph& graph, GraphBuilder& builder) {
  for (const auto& [name, meta] : graph.values) builder.reserve(name);
  for (const SerializedNode& node : graph.nodes) {
    if (!is_inlined(kind_of_target(node.target))) builder.reserve(node.name);
  }
}

}  // namespace torch_ir
