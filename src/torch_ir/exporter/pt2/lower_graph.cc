#include "torch_ir/exporter/pt2/lower_graph.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {
namespace {

// --- Targets ---

enum class TargetKind {
  // An operator of PyTorch's dispatcher, known here or not, or arithmetic on numbers.
  kOperator,
  // Changes no value: left out.
  kNothing,
  // Wrappers that are inlined.
  kSetGradEnabled,
  kAutocast,
  kWithEffects,
  // Control flow.
  kCondition,
  kLoop,
  kUnsupported,
};

constexpr std::string_view kOperatorPrefix = "torch.ops.";
constexpr std::string_view kHigherOrderPrefix = "torch.ops.higher_order.";

const std::unordered_map<std::string_view, TargetKind>& special_targets() {
  static const std::unordered_map<std::string_view, TargetKind> table = {
      {"torch.ops.higher_order.wrap_with_set_grad_enabled", TargetKind::kSetGradEnabled},
      {"torch.ops.higher_order.wrap_with_autocast", TargetKind::kAutocast},
      {"torch.ops.higher_order.with_effects", TargetKind::kWithEffects},
      {"torch.ops.higher_order.cond", TargetKind::kCondition},
      {"torch.ops.higher_order.while_loop", TargetKind::kLoop},
      {"torch._C._set_grad_enabled", TargetKind::kNothing},
  };
  return table;
}

TargetKind kind_of_target(std::string_view target) {
  const auto special = special_targets().find(target);
  if (special != special_targets().end()) return special->second;
  if (target.starts_with(kHigherOrderPrefix)) return TargetKind::kUnsupported;
  if (target.starts_with(kOperatorPrefix)) return TargetKind::kOperator;
  return find_builtin_schema(target) == nullptr ? TargetKind::kUnsupported : TargetKind::kOperator;
}

// "aten.conv2d.default" for "torch.ops.aten.conv2d.default"; others are as they are.
std::string op_type_of_target(std::string_view target) {
  if (target.starts_with(kOperatorPrefix)) target.remove_prefix(kOperatorPrefix.size());
  return std::string(target);
}

using NodesByTarget = std::map<std::string, std::vector<std::string>>;

// In the order of the graph: what is outside comes first.
void find_unsupported(const SerializedGraph& graph, NodesByTarget& unsupported) {
  for (const SerializedNode& node : graph.nodes) {
    if (kind_of_target(node.target) == TargetKind::kUnsupported) {
      unsupported[node.target].push_back("'" + printable(node.name) + "'");
      continue;
    }
    for (const SerializedArgument& argument : node.arguments) {
      if (const auto* inner = std::get_if<SerializedGraphPointer>(&argument.value)) {
        find_unsupported(**inner, unsupported);
      }
    }
  }
}

const char* advice(const std::string& target) {
  return target.starts_with(kHigherOrderPrefix)
             ? "of the higher-order operators only cond and while_loop are"
             : "ExportedProgram.run_decompositions() before torch.export.save may replace it";
}

// --- Nodes ---

using ArgumentValue = decltype(ExportedArgument::value);

// The tensor that `operand` refers to; null for numbers and what is fixed.
const ValueRef* find_tensor(const Attribute& operand, const GraphBuilder& builder) {
  const auto* ref = operand.get_if<ValueRef>();
  return ref == nullptr || builder.find(ref->name)->is_scalar ? nullptr : ref;
}

ArgumentValue lower_values(const ValueList& values, const LoweringContext& context) {
  const std::vector<Attribute> operands = context.scope.resolve_list(values);
  const auto is_tensor = [&](const Attribute& operand) {
    return find_tensor(operand, context.builder) != nullptr;
  };
  if (!operands.empty() && std::ranges::none_of(operands, is_tensor) &&
      std::ranges::all_of(values, [](const auto& value) { return value.has_value(); })) {
    return Attribute(Attribute::List(operands));
  }
  ValueList tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!values[i]) {
      tensors.emplace_back(std::nullopt);
    } else if (is_tensor(operands[i])) {
      tensors.emplace_back(*operands[i].get_if<ValueRef>());
    } else {
      throw ExportError(
          fmt::format("'{}' in a list of tensors is a number", printable(values[i]->name)));
    }
  }
  return tensors;
}

// Numbers are attributes, whichever kind of argument the archive refers to them by.
ArgumentValue lower_value(const SerializedValue& value, const LoweringContext& context) {
  if (const auto* values = std::get_if<ValueList>(&value)) return lower_values(*values, context);
  const Attribute operand = context.scope.resolve_one(value);
  if (const ValueRef* tensor = find_tensor(operand, context.builder)) return *tensor;
  return operand;
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

void check_targets(const SerializedGraph& graph) {
  NodesByTarget unsupported;
  find_unsupported(graph, unsupported);
  if (unsupported.empty()) return;
  constexpr size_t kMaxNames = 5;
  const auto& [target, nodes] = *unsupported.begin();
  const size_t shown = std::min(kMaxNames, nodes.size());
  throw ExportError(
      kNotSupported,
      fmt::format(
          "the operator {} is not supported: node {}{}; {}", printable(op_type_of_target(target)),
          fmt::join(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
          nodes.size() > shown ? fmt::format(" and {} more", nodes.size() - shown) : "",
          advice(target)));
}

void Scope::bind(const std::string& name, Attribute operand) {
  if (!operands_.emplace(name, std::move(operand)).second) {
    throw ExportError(fmt::format("there are two values called '{}'", printable(name)));
  }
}

std::string Scope::new_name(const std::string& name, GraphBuilder& builder) const {
  if (names_ == Names::kKept) return name;
  const auto wish = wishes_.find(name);
  return wish == wishes_.end() ? builder.new_name(name) : wish->second;
}

const Attribute& Scope::find(const std::string& name) const {
  const auto operand = operands_.find(name);
  if (operand != operands_.end()) return operand->second;
  throw ExportError(
      fmt::format("the value '{}' is used, but nothing before makes it", printable(name)));
}

const ValueMeta& Scope::meta(const std::string& name) const {
  const auto value = graph_.values.find(name);
  if (value != graph_.values.end()) return value->second;
  throw ExportError(
      fmt::format("the shape and dtype of the value '{}' are missing", printable(name)));
}

Attribute Scope::resolve_one(const SerializedValue& value, const char* role) const {
  if (const auto* attribute = std::get_if<Attribute>(&value)) {
    return with_values(*attribute, [&](const ValueRef& ref) { return find(ref.name); });
  }
  if (const auto* unsupported = std::get_if<UnsupportedArgument>(&value)) {
    throw ExportError(kNotSupported,
                      fmt::format("{} as {} is not supported", unsupported->what, role));
  }
  throw ExportError("an argument is a list, a graph or an operator where one value is expected");
}

std::vector<Attribute> Scope::resolve_list(const SerializedValue& value) const {
  std::vector<Attribute> operands;
  if (const auto* list = std::get_if<ValueList>(&value)) {
    for (const auto& item : *list) operands.push_back(item ? find(item->name) : Attribute());
    return operands;
  }
  const auto* attribute = std::get_if<Attribute>(&value);
  const auto* items = attribute == nullptr ? nullptr : attribute->get_if<Attribute::List>();
  if (items == nullptr) throw ExportError("an argument is not a list where one is expected");
  for (const Attribute& item : *items) operands.push_back(resolve_one(item));
  return operands;
}

void lower_node(const SerializedNode& node, const LoweringContext& context) {
  context.builder.set_origin(node.origin);
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
