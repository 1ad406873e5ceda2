#include "torch_ir/runtime/graph/lowered_graph.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/name_index.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/python_operators/python_operators.h"

namespace torch_ir {
namespace {

struct Callee {
  std::variant<std::monostate, c10::OperatorHandle, OpHandler, NumberFunction> call;
  std::optional<OperatorBinder> binder;
  const c10::FunctionSchema* schema = nullptr;

  void bind_to(const c10::FunctionSchema& known) {
    schema = &known;
    binder.emplace(known);
  }
};

class GraphBuilder {
 public:
  GraphBuilder(const Graph& graph, const std::string& torch_version, const BoundWeights& weights,
               Unsupported unsupported)
      : source_(graph),
        torch_version_(torch_version),
        weights_(weights),
        unsupported_(unsupported) {
    graph_.device = weights.device;
  }

  LoweredGraph build(size_t num_weights) {
    const size_t num_nodes = source_.nodes.size();
    size_t num_values = num_weights + source_.graph_inputs.size();
    for (const OpNode& node : source_.nodes) num_values += node.outputs.size();
    names_.reserve(num_nodes);
    entries_.reserve(num_nodes);
    graph_.values.reserve(num_values);
    graph_.nodes.reserve(num_nodes);
    for (const TensorMeta& input : source_.graph_inputs) {
      const ValueId value = add_value(input);
      graph_.inputs.push_back({value, parse_dtype(input.dtype)});
      add_producer(input.name, value, 1);
    }
    for (const OpNode& node : source_.nodes) add_node(node);
    for (const TensorMeta& output : source_.graph_outputs) {
      const auto value = find_value(output);
      if (!value) {
        throw ExecutionError(
            fmt::format("Graph output '{}' not found in registry", printable(output.name)));
      }
      graph_.outputs.push_back({*value, parse_dtype(output.dtype)});
    }
    return std::move(graph_);
  }

 private:
  struct Entry {
    std::optional<ValueId> value;
    ValueId first_output = 0;
    uint32_t num_outputs = 0;
  };

  Entry& entry(std::string_view name) {
    const uint32_t number = names_.insert(name);
    if (number == entries_.size()) entries_.emplace_back();
    return entries_[number];
  }

  const Entry* find_entry(std::string_view name) const {
    const auto number = names_.find(name);
    return number ? &entries_[*number] : nullptr;
  }

  ValueId add_value(const TensorMeta& meta) {
    const auto id = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back({meta, {}});
    entry(meta.name).value = id;
    return id;
  }

  ValueId add_constant(at::Tensor constant) {
    graph_.values.push_back({{}, std::move(constant)});
    return static_cast<ValueId>(graph_.values.size() - 1);
  }

  void add_producer(std::string_view name, ValueId first_output, size_t num_outputs) {
    Entry& producer = entry(name);
    producer.first_output = first_output;
    producer.num_outputs = static_cast<uint32_t>(num_outputs);
  }

  std::optional<ValueId> find_value(std::string_view name) const {
    const Entry* found = find_entry(name);
    return found == nullptr ? std::nullopt : found->value;
  }

  // Looks up by producer, as the Python package does, then by name.
  std::optional<ValueId> find_value(const TensorMeta& meta) {
    if (meta.producer_node) {
      const Entry* producer = find_entry(*meta.producer_node);
      const auto index = static_cast<size_t>(meta.producer_output_idx);
      if (producer != nullptr && index < producer->num_outputs) {
        return producer->first_output + static_cast<ValueId>(index);
      }
    }
    if (const auto value = find_value(meta.name)) return value;
    auto weight = weights_.tensors.get(meta.name);
    if (!weight) return std::nullopt;
    const ValueId id = add_constant(std::move(*weight));
    graph_.values[id].meta.name = meta.name;
    entry(meta.name).value = id;
    return id;
  }

  // Validation guarantees that the value exists.
  ValueId referred_value(const OpNode& node, const std::string& name) {
    if (const auto value = find_value(name)) return *value;
    throw ExecutionError(fmt::format("Number '{}' not found in registry for node '{}'.",
                                     printable(name), printable(node.name)));
  }

  ValueId input_value(const OpNode& node, size_t index) {
    const TensorMeta& input = node.inputs[index];
    if (const auto value = find_value(input)) return *value;
    throw ExecutionError(fmt::format("Weight/input '{}' not found in registry for node '{}'.",
                                     printable(input.name), printable(node.name)));
  }

  void add_node(const OpNode& node) {
    Callee& callee = callee_of(node);
    if (const auto* handler = std::get_if<OpHandler>(&callee.call)) {
      finish_node(node, std::make_shared<const OpHandlerCall>(OpHandlerCall{*handler, node}),
                  input_values(node));
    } else if (const auto* function = std::get_if<NumberFunction>(&callee.call)) {
      finish_node(node, *function, operator_arguments(node, callee));
    } else if (const auto* op = std::get_if<c10::OperatorHandle>(&callee.call)) {
      finish_node(node, *op, operator_arguments(node, callee));
    } else {
      add_control_flow(node);
    }
  }

  Callee& callee_of(const OpNode& node) {
    const auto [found, is_new] = callees_.try_emplace(node.op_type);
    if (is_new) found->second = find_callee(node);
    return found->second;
  }

  Callee find_callee(const OpNode& node) const {
    Callee callee;
    if (unsupported_ == Unsupported::kKeep && !operator_support(node.op_type).is_supported) {
      callee.call = OpHandler([](const OpNode& it, const auto&) -> std::vector<at::Tensor> {
        throw ExecutionError("Unsupported operator '" + printable(it.op_type) + "'.");
      });
    } else if (OpHandler handler = find_op_handler(node.op_type)) {
      callee.call = std::move(handler);
    } else if (const NumberFunction function = find_number_function(node.op_type)) {
      callee.call = function;
      callee.bind_to(*find_schema(node.op_type));
    } else if (num_graphs_of(node.op_type) == 0) {
      const c10::OperatorHandle op = known_operator(node);
      callee.call = op;
      callee.bind_to(op.schema());
    }
    return callee;
  }

  c10::OperatorHandle known_operator(const OpNode& node) const {
    if (const std::string reason = refusal(node.op_type); !reason.empty()) {
      throw ExecutionError(fmt::format("Operator '{}' of node '{}' is refused: {}.",
                                       printable(node.op_type), printable(node.name), reason));
    }
    const auto op = find_operator(node.op_type);
    if (!op) throw ExecutionError(unknown_operator(node));
    return *op;
  }

  std::vector<NodeArgument> input_values(const OpNode& node) {
    std::vector<NodeArgument> values;
    values.reserve(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      values.emplace_back(ValueUse{input_value(node, i)});
    }
    return values;
  }

  std::string unknown_operator(const OpNode& node) const {
    const std::string made_with =
        torch_version_.empty()
            ? ""
            : fmt::format(" (the graph is of PyTorch {})", printable(torch_version_));
    return fmt::format(
        "Unknown operator '{}' of node '{}': LibTorch {} in this process does not have it{}; {}, "
        "or register an op handler with register_executor.",
        printable(node.op_type), printable(node.name), TORCH_VERSION, made_with,
        advice_about_unknown(node.op_type));
  }

  // The condition comes first, then the operands of the graphs.
  void add_control_flow(const OpNode& node) {
    std::vector<NodeArgument> arguments = input_values(node);
    if (const Attribute* pred = node.attrs.find("pred")) {
      const c10::Argument& argument = find_schema(node.op_type)->arguments()[0];
      arguments.insert(arguments.begin(), attribute_argument(node, argument, *pred));
    }
    ControlFlowCall control_flow{
        node.op_type == kCond ? ControlFlow::kCond : ControlFlow::kWhileLoop, {}};
    for (const Graph& graph : node.graphs) {
      BoundWeights none;
      none.device = weights_.device;
      control_flow.graphs.push_back(
          GraphBuilder(graph, torch_version_, none, unsupported_).build(/*num_weights=*/0));
    }
    finish_node(node, std::move(control_flow), std::move(arguments));
  }

  void finish_node(const OpNode& node, decltype(LoweredNode::callee) callee,
                   std::vector<NodeArgument> arguments) {
    const auto first = static_cast<ValueId>(graph_.values.size());
    std::vector<ValueId> outputs;
    outputs.reserve(node.outputs.size());
    for (const TensorMeta& output : node.outputs) outputs.push_back(add_value(output));
    add_producer(node.name, first, outputs.size());
    graph_.nodes.push_back(
        {node.name, node.op_type, std::move(callee), std::move(arguments), std::move(outputs), {}});
  }

  std::vector<NodeArgument> operator_arguments(const OpNode& node, Callee& callee) {
    const std::vector<BoundArgument>& bound = callee.binder->bind(node);
    std::vector<NodeArgument> arguments;
    arguments.reserve(bound.size());
    for (size_t i = 0; i < bound.size(); ++i) {
      arguments.push_back(operator_argument(node, callee.schema->arguments()[i], bound[i]));
    }
    return arguments;
  }

  NodeArgument operator_argument(const OpNode& node, const c10::Argument& argument,
                                 const BoundArgument& bound) {
    if (const auto* tensor = std::get_if<TensorArgument>(&bound)) {
      return ValueUse{input_value(node, tensor->input)};
    }
    if (const auto* tensors = std::get_if<TensorListArgument>(&bound)) {
      ListArgument list{{}, takes_none(argument)};
      for (const auto& input : tensors->inputs) {
        list.items.emplace_back();
        if (input) list.items.back() = ValueUse{input_value(node, *input)};
      }
      return list;
    }
    if (const auto* attribute = std::get_if<AttributeArgument>(&bound)) {
      return attribute_argument(node, argument, *attribute->value);
    }
    return default_value(argument);
  }

  NodeArgument attribute_argument(const OpNode& node, const c10::Argument& argument,
                                  const Attribute& attribute) {
    if (const std::vector<std::string> names = value_refs(attribute); !names.empty()) {
      NumbersArgument numbers{attribute, &argument, {}};
      for (const std::string& name : names) numbers.values.push_back(referred_value(node, name));
      return numbers;
    }
    c10::IValue value;
    try {
      value = to_ivalue(attribute, argument);
    } catch (const ValidationError& error) {
      throw ValidationError(fmt::format("node '{}' ({}): {}", printable(node.name),
                                        printable(node.op_type), error.what()));
    }
    if (value.isTensor()) return ValueUse{add_constant(value.toTensor())};
    // A graph captured on the meta device names it where it makes tensors.
    if (value.isDevice() && value.toDevice().is_meta()) return c10::IValue(graph_.device);
    return value;
  }

  const Graph& source_;
  const std::string& torch_version_;
  const BoundWeights& weights_;
  const Unsupported unsupported_;
  LoweredGraph graph_;
  NameIndex names_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, Callee> callees_;
};

}  // namespace

LoweredGraph build_graph(const IR& ir, const BoundWeights& weights, Unsupported unsupported) {
  LoweredGraph graph =
      GraphBuilder(ir, ir.pytorch_version, weights, unsupported).build(ir.weights.size());
  graph.symbols = SymbolBinder(ir);
  return graph;
}

void visit_values(const NodeArgument& argument, c10::function_ref<void(ValueId)> visit) {
  const auto visit_use = [&](const auto& item) {
    if (const auto* use = std::get_if<ValueUse>(&item)) visit(use->value);
  };
  visit_use(argument);
  if (const auto* numbers = std::get_if<NumbersArgument>(&argument)) {
    for (const ValueId number : numbers->values) visit(number);
  } else if (const auto* list = std::get_if<ListArgument>(&argument)) {
    for (const auto& item : list->items) visit_use(item);
  }
}

bool DifferingValues::add(const LoweredNode& node, const std::vector<ValueId>& values) {
  const std::lock_guard lock(mutex_);
  bool is_new = true;
  visit_values(node, [&](ValueId read) { is_new &= !values_.contains(read); });
  for (const ValueId value : values) is_new &= values_.insert(value).second;
  return is_new;
}

void visit_values(const LoweredNode& node, c10::function_ref<void(ValueId)> visit) {
  for (const NodeArgument& argument : node.arguments) visit_values(argument, visit);
}

}  // namespace torch_ir
