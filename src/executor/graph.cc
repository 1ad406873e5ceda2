#include "torch_ir/executor/graph.h"

#include <ATen/core/jit_type.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/executor/refused_operators.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

bool holds_none(const c10::Argument& argument) {
  c10::TypePtr type = argument.type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  const auto list = type->cast<c10::ListType>();
  return list != nullptr && list->getElementType()->kind() == c10::TypeKind::OptionalType;
}

class GraphBuilder {
 public:
  GraphBuilder(const Graph& graph, const std::string& torch_version, const BoundWeights& weights)
      : source_(graph), torch_version_(torch_version), weights_(weights) {
    graph_.source = &graph;
    graph_.device = weights.device;
  }

  PlanGraph build() {
    for (const TensorMeta& input : source_.graph_inputs) {
      graph_.inputs.push_back(add_value(input.name));
      producers_.insert_or_assign(input.name, Producer{graph_.inputs.back(), 1});
    }
    graph_.nodes.reserve(source_.nodes.size());
    for (const OpNode& node : source_.nodes) add_node(node);
    for (const TensorMeta& output : source_.graph_outputs) {
      const auto value = find_value(output);
      if (!value) {
        throw ExecutionError(fmt::format("Graph output '{}' not found in registry", output.name));
      }
      graph_.outputs.push_back(*value);
    }
    return std::move(graph_);
  }

 private:
  // The outputs of a node are numbered in a row.
  struct Producer {
    ValueId first;
    size_t num_outputs;
  };

  ValueId add_value(const std::string& name, at::Tensor constant = {}) {
    const auto id = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back({name, std::move(constant)});
    if (!name.empty()) by_name_.insert_or_assign(name, id);
    return id;
  }

  // By producer, as the Python package looks values up, then by name.
  std::optional<ValueId> find_value(const TensorMeta& meta) {
    if (meta.producer_node) {
      const auto producer = producers_.find(*meta.producer_node);
      const auto index = static_cast<size_t>(meta.producer_output_idx);
      if (producer != producers_.end() && index < producer->second.num_outputs) {
        return producer->second.first + static_cast<ValueId>(index);
      }
    }
    if (const auto found = by_name_.find(meta.name); found != by_name_.end()) return found->second;
    if (auto weight = weights_.tensors.get(meta.name)) {
      return add_value(meta.name, std::move(*weight));
    }
    return std::nullopt;
  }

  // A number that `node` refers to; validation has seen to it that there is one.
  ValueId referred_value(const OpNode& node, const std::string& name) {
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    throw ExecutionError(
        fmt::format("Number '{}' not found in registry for node '{}'.", name, node.name));
  }

  ValueId input_value(const OpNode& node, size_t index) {
    const TensorMeta& input = node.inputs[index];
    if (const auto value = find_value(input)) return *value;
    throw ExecutionError(fmt::format("Weight/input '{}' not found in registry for node '{}'.",
                                     input.name, node.name));
  }

  void add_node(const OpNode& node) {
    if (OpExecutor executor = find_executor(node.op_type)) {
      std::vector<PlanArgument> arguments;
      for (size_t i = 0; i < node.inputs.size(); ++i) arguments.emplace_back(input_value(node, i));
      finish_node(node, std::move(executor), std::move(arguments));
      return;
    }
    if (const NumberFunction function = find_number_function(node.op_type)) {
      finish_node(node, function, operator_arguments(node, *find_schema(node.op_type)));
      return;
    }
    if (!node.graphs.empty()) {
      add_control_flow(node);
      return;
    }
    if (const std::string reason = refusal(node.op_type); !reason.empty()) {
      throw ExecutionError(fmt::format("Operator '{}' of node '{}' is refused: {}.", node.op_type,
                                       node.name, reason));
    }
    const auto op = find_operator(node.op_type);
    if (!op) fail_unknown(node);
    finish_node(node, *op, operator_arguments(node, op->schema()));
  }

  [[noreturn]] void fail_unknown(const OpNode& node) const {
    const std::string made_with =
        torch_version_.empty() ? "" : fmt::format(" (the graph is of PyTorch {})", torch_version_);
    throw ExecutionError(
        fmt::format("Operator '{}' of node '{}' is unknown to LibTorch {} in this process{}. Load "
                    "the library that defines it, or register_executor one.",
                    node.op_type, node.name, TORCH_VERSION, made_with));
  }

  // What decides comes first, then the values that the graphs take.
  void add_control_flow(const OpNode& node) {
    std::vector<PlanArgument> arguments;
    if (const Attribute* pred = node.attrs.find("pred")) {
      arguments.push_back(
          attribute_argument(node, find_schema(node.op_type)->arguments()[0], *pred));
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) arguments.emplace_back(input_value(node, i));
    PlanControlFlow control_flow{
        node.op_type == kCond ? ControlFlow::kCond : ControlFlow::kWhileLoop, {}};
    for (const Graph& graph : node.graphs) {
      BoundWeights none;
      none.device = weights_.device;
      control_flow.graphs.push_back(GraphBuilder(graph, torch_version_, none).build());
    }
    finish_node(node, std::move(control_flow), std::move(arguments));
  }

  void finish_node(const OpNode& node, decltype(PlanNode::callee) callee,
                   std::vector<PlanArgument> arguments) {
    const auto first = static_cast<ValueId>(graph_.values.size());
    std::vector<ValueId> outputs;
    for (const TensorMeta& output : node.outputs) outputs.push_back(add_value(output.name));
    producers_.insert_or_assign(node.name, Producer{first, outputs.size()});
    graph_.nodes.push_back({&node, std::move(callee), std::move(arguments), std::move(outputs)});
  }

  std::vector<PlanArgument> operator_arguments(const OpNode& node,
                                               const c10::FunctionSchema& schema) {
    const std::vector<BoundArgument> bound = bind_node(node, schema);
    std::vector<PlanArgument> arguments;
    arguments.reserve(bound.size());
    for (size_t i = 0; i < bound.size(); ++i) {
      arguments.push_back(operator_argument(node, schema.arguments()[i], bound[i]));
    }
    return arguments;
  }

  PlanArgument operator_argument(const OpNode& node, const c10::Argument& argument,
                                 const BoundArgument& bound) {
    if (const auto* tensor = std::get_if<TensorArgument>(&bound)) {
      return input_value(node, tensor->input);
    }
    if (const auto* tensors = std::get_if<TensorListArgument>(&bound)) {
      PlanList list{{}, holds_none(argument)};
      for (const auto& input : tensors->inputs) {
        list.values.push_back(input ? std::optional(input_value(node, *input)) : std::nullopt);
      }
      return list;
    }
    if (const auto* attribute = std::get_if<AttributeArgument>(&bound)) {
      return attribute_argument(node, argument, *attribute->value);
    }
    return argument.default_value().value_or(c10::IValue());
  }

  PlanArgument attribute_argument(const OpNode& node, const c10::Argument& argument,
                                  const Attribute& attribute) {
    if (const std::vector<std::string> names = value_refs(attribute); !names.empty()) {
      PlanNumbers numbers{&attribute, &argument, {}};
      for (const std::string& name : names) numbers.values.push_back(referred_value(node, name));
      return numbers;
    }
    c10::IValue value;
    try {
      value = to_ivalue(attribute, argument);
    } catch (const ValidationError& error) {
      throw ValidationError(
          fmt::format("node '{}' ({}): {}", node.name, node.op_type, error.what()));
    }
    if (value.isTensor()) return add_value({}, value.toTensor());
    // A graph that was captured on the meta device says so where it makes tensors.
    if (value.isDevice() && value.toDevice().is_meta()) return c10::IValue(graph_.device);
    return value;
  }

  const Graph& source_;
  const std::string& torch_version_;
  const BoundWeights& weights_;
  PlanGraph graph_;
  std::unordered_map<std::string, ValueId> by_name_;
  std::unordered_map<std::string, Producer> producers_;
};

}  // namespace

PlanGraph build_graph(const IR& ir, const BoundWeights& weights) {
  return GraphBuilder(ir, ir.pytorch_version, weights).build();
}

std::vector<ValueId> values_of(const PlanArgument& argument) {
  if (const auto* value = std::get_if<ValueId>(&argument)) return {*value};
  if (const auto* numbers = std::get_if<PlanNumbers>(&argument)) return numbers->values;
  std::vector<ValueId> values;
  if (const auto* list = std::get_if<PlanList>(&argument)) {
    for (const auto& item : list->values) {
      if (item) values.push_back(*item);
    }
  }
  return values;
}

std::vector<ValueId> values_of(const PlanNode& node) {
  std::vector<ValueId> values;
  for (const PlanArgument& argument : node.arguments) {
    const std::vector<ValueId> part = values_of(argument);
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

}  // namespace torch_ir
