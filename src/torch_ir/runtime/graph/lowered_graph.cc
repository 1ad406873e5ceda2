#include "torch_ir/runtime/graph/lowered_graph.h"

#include <ATen/core/jit_type.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/runtime/graph/bind_weights.h"

namespace torch_ir {
namespace {

using Call = decltype(LoweredNode::callee);

ControlFlow control_flow_of(std::string_view target) {
  if (target == kCond) return ControlFlow::kCond;
  return target == kWhileLoop ? ControlFlow::kWhileLoop : ControlFlow::kLoopOverSlices;
}

// The length of the list `argument`.
size_t num_values(const Node& node, std::string_view argument) {
  const Argument* given = node.find(argument);
  const auto* list = given == nullptr ? nullptr : std::get_if<ValueList>(&given->value);
  return list == nullptr ? 0 : list->size();
}

// Adds to a graph what a run needs.
class GraphLowerer {
 public:
  GraphLowerer(std::shared_ptr<const Program> program, const Graph& source,
               const BoundWeights& weights, Unsupported unsupported)
      : source_(source), weights_(weights), unsupported_(unsupported) {
    graph_.program = std::move(program);
    graph_.source = &source;
    graph_.device = weights.device;
  }

  LoweredGraph lower() {
    graph_.values.reserve(source_.values.size());
    graph_.nodes.reserve(source_.nodes.size());
    for (const Value& value : source_.values) graph_.values.push_back({&value, {}});
    for (size_t id = 0; id < weights_.tensors.size(); ++id) {
      graph_.values[id].constant = weights_.tensors[id];
    }
    for (const ValueId input : source_.user_inputs()) {
      graph_.inputs.push_back({input, source_[input].dtype});
    }
    for (const Node& node : source_.nodes) add_node(node);
    for (const ValueId output : source_.outputs) {
      graph_.outputs.push_back({output, source_[output].dtype});
    }
    return std::move(graph_);
  }

 private:
  void add_node(const Node& node) {
    if (num_graphs_of(node.target) > 0) return add_control_flow(node);
    const Argument* opaque = node.find_opaque();
    if (unsupported_ == Unsupported::kRefuse) {
      if (opaque != nullptr) refuse(*opaque, node);
    } else if (opaque != nullptr || !operator_support(node.target).is_supported) {
      return add_handled(node, [](const OpNode& it, const auto&) -> std::vector<at::Tensor> {
        throw ExecutionError("Unsupported operator '" + printable(it.op_type) + "'.");
      });
    }
    if (OpHandler handler = find_op_handler(node.target)) {
      return add_handled(node, std::move(handler));
    }
    auto callee = callees_.find(node.target);
    if (callee == callees_.end()) callee = callees_.emplace(node.target, find_callee(node)).first;
    add(node, callee->second.call, operator_arguments(node, *callee->second.schema));
  }

  void add_handled(const Node& node, OpHandler handler) {
    std::vector<NodeArgument> uses;
    for (const ValueId input : node.inputs()) uses.emplace_back(ValueUse{input});
    add(node,
        std::make_shared<const OpHandlerCall>(
            OpHandlerCall{std::move(handler), convert_default(node, GraphAnalyzer(source_))}),
        std::move(uses));
  }

  [[noreturn]] static void refuse(const Argument& opaque, const Node& node) {
    throw ExecutionError(fmt::format(
        "Argument '{}' of node '{}' ({}) is {}, which no run can make; export the model without "
        "it.",
        printable(opaque.name), printable(node.name), printable(node.target),
        printable(std::get<Attribute>(opaque.value).get_if<Opaque>()->what)));
  }

  struct Callee {
    Call call;
    const c10::FunctionSchema* schema;
  };

  Callee find_callee(const Node& node) const {
    if (const NumberFunction function = find_number_function(node.target)) {
      return {function, find_schema(node.target)};
    }
    if (const std::string reason = refusal(node.target); !reason.empty()) {
      throw ExecutionError(fmt::format("Operator '{}' of node '{}' is refused: {}.",
                                       printable(node.target), printable(node.name), reason));
    }
    const auto op = find_operator(node.target);
    if (!op) throw ExecutionError(unknown_operator(node));
    return {*op, &op->schema()};
  }

  std::string unknown_operator(const Node& node) const {
    const std::string& version = graph_.program->torch_version;
    const std::string made_with =
        version.empty() ? "" : fmt::format(" (the graph is of PyTorch {})", printable(version));
    return fmt::format(
        "Unknown operator '{}' of node '{}': LibTorch {} in this process does not have it{}; {}, "
        "or register an op handler with register_executor.",
        printable(node.target), printable(node.name), TORCH_VERSION, made_with,
        advice_about_unknown(node.target));
  }

  // The condition comes first, then the operands of the graphs.
  void add_control_flow(const Node& node) {
    const auto& schema = find_schema(node.target)->arguments();
    std::vector<NodeArgument> arguments;
    for (const Argument& argument : node.arguments) {
      if (std::holds_alternative<Attribute>(argument.value)) {
        arguments.push_back(attribute_argument(node, schema[0], argument));
      } else {
        for_each_value(argument, [&](ValueId id) { arguments.emplace_back(ValueUse{id}); });
      }
    }
    ControlFlowCall control_flow{control_flow_of(node.target), {}};
    control_flow.num_carried = num_values(node, "init");
    control_flow.num_sliced = num_values(node, "xs");
    const BoundWeights none{.device = weights_.device};
    for (const Graph& graph : node.graphs) {
      control_flow.graphs.push_back(
          GraphLowerer(graph_.program, graph, none, unsupported_).lower());
    }
    add(node, std::move(control_flow), std::move(arguments));
  }

  void add(const Node& node, Call callee, std::vector<NodeArgument> arguments) {
    graph_.nodes.push_back({&node, std::move(callee), std::move(arguments), {}});
  }

  std::vector<NodeArgument> operator_arguments(const Node& node,
                                               const c10::FunctionSchema& schema) {
    std::vector<NodeArgument> arguments;
    arguments.reserve(schema.arguments().size());
    for (const c10::Argument& argument : schema.arguments()) {
      const Argument* given = node.find(argument.name());
      arguments.push_back(given == nullptr ? default_value(argument)
                                           : operator_argument(node, argument, *given));
    }
    return arguments;
  }

  NodeArgument operator_argument(const Node& node, const c10::Argument& argument,
                                 const Argument& given) {
    if (const auto* value = std::get_if<ValueId>(&given.value)) return ValueUse{*value};
    if (const auto* values = std::get_if<ValueList>(&given.value)) {
      ListArgument list{{}, takes_none(argument)};
      for (const auto& value : *values) {
        list.items.emplace_back();
        if (value) list.items.back() = ValueUse{*value};
      }
      return list;
    }
    return attribute_argument(node, argument, given);
  }

  NodeArgument attribute_argument(const Node& node, const c10::Argument& argument,
                                  const Argument& given) {
    if (!given.numbers.empty()) return NumbersArgument{&given, &argument};
    c10::IValue value;
    try {
      value = to_ivalue(std::get<Attribute>(given.value), argument);
    } catch (const ValidationError& error) {
      throw ValidationError(fmt::format("node '{}' ({}): {}", printable(node.name),
                                        printable(node.target), error.what()));
    }
    if (value.isTensor()) {
      graph_.values.push_back({nullptr, value.toTensor()});
      return ValueUse{static_cast<ValueId>(graph_.values.size() - 1)};
    }
    return value;
  }

  const Graph& source_;
  const BoundWeights& weights_;
  const Unsupported unsupported_;
  LoweredGraph graph_;
  std::unordered_map<std::string_view, Callee> callees_;
};

// Whether each result of the operator is one node output: a tensor or a number, not a list.
bool returns_values(const LoweredNode& node) {
  const auto* op = std::get_if<c10::OperatorHandle>(&node.callee);
  if (op == nullptr) return std::holds_alternative<NumberFunction>(node.callee);
  const std::vector<c10::Argument>& returns = op->schema().returns();
  return returns.size() == node.outputs().size() &&
         std::none_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
           return result.type()->kind() == c10::TypeKind::ListType ||
                  result.type()->kind() == c10::TypeKind::OptionalType;
         });
}

void mark_values(LoweredGraph& graph) {
  for (const LoweredNode& node : graph.nodes) {
    visit_values(node, [&](ValueId value) { graph.values[value].is_read = true; });
  }
  for (const GraphPort& output : graph.outputs) graph.values[output.value].is_read = true;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    LoweredValue& value = graph.values[id];
    value.is_written = graph.memory.is_written(id);
    value.may_be_constant = graph.memory.may_be_constant(id) && !value.is_written;
    if (!value.is_read) value.constant = at::Tensor();
    graph.writes_in_place |= value.is_written && value.constant.defined();
  }
  for (const GraphPort& input : graph.inputs) {
    graph.writes_in_place |= graph.values[input.value].is_written;
  }
}

void fix_constants(const LoweredGraph& graph, LoweredNode& node) {
  const auto fix = [&](auto& item) {
    const auto* use = std::get_if<ValueUse>(&item);
    if (use == nullptr || !graph.values[use->value].is_fixed()) return;
    item = c10::IValue(graph.values[use->value].constant);
  };
  for (NodeArgument& argument : node.arguments) {
    fix(argument);
    if (auto* list = std::get_if<ListArgument>(&argument)) std::ranges::for_each(list->items, fix);
  }
}

void mark_last_uses(LoweredGraph& graph) {
  std::vector<bool> is_read_later(graph.values.size(), false);
  for (const GraphPort& output : graph.outputs) is_read_later[output.value] = true;
  const auto mark = [&](auto& item) {
    if (auto* use = std::get_if<ValueUse>(&item)) {
      use->is_last = !is_read_later[use->value];
      is_read_later[use->value] = true;
    }
  };
  for (LoweredNode& node : std::views::reverse(graph.nodes)) {
    for (NodeArgument& argument : std::views::reverse(node.arguments)) {
      mark(argument);
      if (auto* list = std::get_if<ListArgument>(&argument)) {
        std::ranges::for_each(std::views::reverse(list->items), mark);
      } else if (const auto* numbers = std::get_if<NumbersArgument>(&argument)) {
        for (const ValueId number : numbers->given->numbers) is_read_later[number] = true;
      }
    }
  }
}

// Visits the devices that nodes name, also in the graphs of control flow.
void visit_devices(LoweredGraph& graph, c10::function_ref<void(c10::IValue& device)> visit) {
  for (LoweredNode& node : graph.nodes) {
    for (NodeArgument& argument : node.arguments) {
      auto* fixed = std::get_if<c10::IValue>(&argument);
      if (fixed != nullptr && fixed->isDevice()) visit(*fixed);
    }
    if (auto* call = std::get_if<ControlFlowCall>(&node.callee)) {
      for (LoweredGraph& inner : call->graphs) visit_devices(inner, visit);
    }
  }
}

// Moves a graph from the device that it was made on to the one of the run. Returns the former: the
// first that a node names beside the CPU and the meta device, or the CPU. What a graph of a GPU
// does on the CPU stays there.
c10::Device move_to_device(LoweredGraph& graph) {
  c10::Device home = c10::kCPU;
  visit_devices(graph, [&](const c10::IValue& named) {
    const c10::Device device = named.toDevice();
    if (home.is_cpu() && !device.is_meta()) home = device;
  });
  visit_devices(graph, [&](c10::IValue& named) {
    const c10::Device device = named.toDevice();
    if (device.is_meta() || device.type() == home.type()) named = graph.device;
  });
  return home;
}

void prepare_for_runs(LoweredGraph& graph) {
  graph.memory = GraphMemory(graph);
  mark_values(graph);
  for (LoweredNode& node : graph.nodes) {
    if (auto* call = std::get_if<ControlFlowCall>(&node.callee)) {
      std::ranges::for_each(call->graphs, prepare_for_runs);
    }
    fix_constants(graph, node);
    node.returns_values = returns_values(node);
    std::ranges::copy_if(node.outputs(), std::back_inserter(node.unread),
                         [&](ValueId output) { return !graph.values[output].is_read; });
  }
  mark_last_uses(graph);
}

}  // namespace

LoweredGraph lower(const Case& graph_case, std::optional<c10::Device> device,
                   Unsupported unsupported) {
  const BoundWeights bound = bind_weights(graph_case, device);
  const Program& program = *graph_case.program;
  LoweredGraph graph = GraphLowerer(graph_case.program, program, bound, unsupported).lower();
  graph.symbols = SymbolBinder(program);
  const c10::Device home = move_to_device(graph);
  prepare_for_runs(graph);
  if (unsupported == Unsupported::kKeep) return graph;
  if (!home.is_cpu() && home.type() != graph.device.type()) {
    TORCH_WARN("The graph names the device ", home.str(), "; it runs on ", graph.device.str(), ".");
  }
  const std::string unchecked = graph.symbols.unchecked_text();
  if (!unchecked.empty()) TORCH_WARN(unchecked);
  return graph;
}

LoweredGraph lower_without_weights(const Program& program) {
  const std::shared_ptr<const Program> not_owned(std::shared_ptr<void>(), &program);
  LoweredGraph graph = GraphLowerer(not_owned, program, {}, Unsupported::kKeep).lower();
  graph.memory = GraphMemory(graph);
  return graph;
}

void visit_values(const NodeArgument& argument, c10::function_ref<void(ValueId)> visit) {
  const auto visit_use = [&](const auto& item) {
    if (const auto* use = std::get_if<ValueUse>(&item)) visit(use->value);
  };
  visit_use(argument);
  if (const auto* numbers = std::get_if<NumbersArgument>(&argument)) {
    for (const ValueId number : numbers->given->numbers) visit(number);
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
