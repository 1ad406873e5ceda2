#include "harness/stages/eager_program.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/item.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/converter/graph_analyzer.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/argument_shapes.h"
#include "torch_ir/operators/argument_values.h"
#include "torch_ir/operators/number_functions.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/operators/operator_effects.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/python_operators/python_operators.h"

namespace torch_ir {
namespace {

using Stack = std::vector<c10::IValue>;

// The values of a running graph, by number, and by name for numbers that attributes refer to.
class Values {
 public:
  explicit Values(const ExportedGraph& graph) : graph_(graph), values_(graph.values.size()) {}

  c10::IValue& operator[](ValueId id) { return values_.at(static_cast<size_t>(id)); }
  const c10::IValue& operator()(ValueId id) const { return values_.at(static_cast<size_t>(id)); }
  const c10::IValue& operator()(const ValueRef& ref) const {
    return (*this)(graph_.find(ref.name).value());
  }

  const ExportedGraph& graph() const { return graph_; }

 private:
  const ExportedGraph& graph_;
  Stack values_;
};

const ExportedArgument* find_argument(const ExportedNode& node, const std::string& name) {
  const auto found = std::ranges::find(node.arguments, name, &ExportedArgument::name);
  return found == node.arguments.end() ? nullptr : &*found;
}

bool writes_in_place(const ExportedGraph& graph) {
  EffectsTable table;
  const auto writes = [&](const ExportedNode& node) {
    const auto op = find_operator(node.target);
    const auto may_be_true = [&](size_t i) {
      const ExportedArgument* given = find_argument(node, op->schema().arguments()[i].name());
      return given == nullptr || given->value != decltype(given->value)(Attribute(false));
    };
    return (op && std::ranges::count(table.of(*op, may_be_true).writes, true) > 0) ||
           std::ranges::any_of(node.graphs, writes_in_place);
  };
  return std::ranges::any_of(graph.nodes, writes);
}

// Copies tensors with their storages, which preserves shared memory.
class Copier {
 public:
  at::Tensor copy(const at::Tensor& tensor) {
    if (!tensor.has_storage()) return tensor.clone();
    at::Tensor& bytes = copies_[tensor.storage().unsafeGetStorageImpl()];
    if (!bytes.defined()) {
      const auto size = static_cast<int64_t>(tensor.storage().nbytes());
      at::Tensor original = at::empty({0}, at::device(tensor.device()).dtype(at::kByte));
      original.set_(tensor.storage(), 0, {size}, {1});
      bytes = original.clone();
    }
    return at::empty({0}, tensor.options())
        .set_(bytes.storage(), tensor.storage_offset(), tensor.sizes(), tensor.strides());
  }

 private:
  std::unordered_map<c10::StorageImpl*, at::Tensor> copies_;
};

Stack make_arguments(const ExportedNode& node, const c10::FunctionSchema& schema,
                     const Values& values) {
  const auto find_given = [&](const c10::Argument& argument) {
    const ExportedArgument* given = find_argument(node, argument.name());
    return given == nullptr ? nullptr : &given->value;
  };
  return make_stack(schema, find_given, values);
}

void store_outputs(const ExportedNode& node, const Stack& results, Values& values) {
  Stack outputs = output_values(results, node.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) values[node.outputs[i]] = std::move(outputs[i]);
}

Stack run_graph(const ExportedGraph& graph, const Stack& inputs,
                const ValueObserver& observer = nullptr,
                const std::unordered_set<std::string>& left_out = {});

Stack operands(const ExportedNode& node, const std::string& name, const Values& values) {
  const ExportedArgument* argument = find_argument(node, name);
  if (argument == nullptr) return {};
  Stack stack;
  if (const auto* list = std::get_if<ValueList>(&argument->value)) {
    for (const auto& value : *list) stack.push_back(values(value.value()));
    return stack;
  }
  for (const std::string& number : value_refs(std::get<Attribute>(argument->value))) {
    stack.push_back(values(ValueRef{number}));
  }
  return stack;
}

bool is_true(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor().item<bool>() : value.toBool();
}

Stack run_cond(const ExportedNode& node, const Values& values) {
  const ExportedArgument* given = find_argument(node, "pred");
  if (given == nullptr) throw ExecutionError("missing argument 'pred'");
  const c10::IValue pred =
      make_argument(given->value, find_schema(node.target)->arguments().at(0), values);
  return run_graph(node.graphs.at(is_true(pred) ? 0 : 1), operands(node, "operands", values));
}

Stack run_while_loop(const ExportedNode& node, const Values& values) {
  Stack stack = operands(node, "carried_inputs", values);
  const size_t num_carried = stack.size();
  const Stack additional = operands(node, "additional_inputs", values);
  stack.insert(stack.end(), additional.begin(), additional.end());
  while (is_true(run_graph(node.graphs.at(0), stack).at(0))) {
    std::ranges::move(run_graph(node.graphs.at(1), stack), stack.begin());
  }
  stack.resize(num_carried);
  return stack;
}

// Op handlers of the program expect nodes of the IR.
Stack run_op_handler(const OpHandler& handler, const ExportedNode& node, const Values& values) {
  const OpNode converted = convert_default(node, GraphAnalyzer(values.graph()));
  std::vector<at::Tensor> inputs;
  for (const TensorMeta& input : converted.inputs) {
    inputs.push_back(values(ValueRef{input.name}).toTensor());
  }
  Stack results;
  for (at::Tensor& output : handler(converted, inputs)) results.emplace_back(std::move(output));
  return results;
}

Stack call(const ExportedNode& node, const Values& values) {
  if (node.target == kCond) return run_cond(node, values);
  if (node.target == kWhileLoop) return run_while_loop(node, values);
  if (const std::string reason = refusal(node.target); !reason.empty()) {
    throw ExecutionError("unsupported operator: " + reason);
  }
  if (const OpHandler handler = find_op_handler(node.target)) {
    return run_op_handler(handler, node, values);
  }
  const c10::FunctionSchema* schema = find_schema(node.target);
  if (schema == nullptr)
    throw ExecutionError(
        fmt::format("unknown operator; {}, or give the expected outputs (--expected)",
                    advice_about_unknown(node.target)));
  Stack stack = make_arguments(node, *schema, values);
  if (const NumberFunction function = find_number_function(node.target)) {
    function(stack);
  } else {
    const c10::OperatorHandle op = *find_operator(node.target);
    check_argument_shapes(op, stack);
    check_argument_values(op, stack);
    op.callBoxed(stack);
  }
  return stack;
}

// For each node, the values that are not used after it. Numbers stay, because attributes may refer
// to them.
std::vector<std::vector<ValueId>> find_last_uses(const ExportedGraph& graph) {
  std::vector<bool> seen(graph.values.size());
  for (const ValueId output : graph.outputs) seen[static_cast<size_t>(output)] = true;
  std::vector<std::vector<ValueId>> last_uses(graph.nodes.size());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const auto note = [&](ValueId id) {
      if (!seen[static_cast<size_t>(id)] && !graph[id].is_scalar) last_uses[i].push_back(id);
      seen[static_cast<size_t>(id)] = true;
    };
    std::ranges::for_each(graph.nodes[i].outputs, note);
    for (const ExportedArgument& argument : graph.nodes[i].arguments) {
      for_each_value(argument, note);
    }
  }
  return last_uses;
}

// Turns a number into a tensor of the graph's dtype, and None into an undefined tensor.
at::Tensor as_tensor(const c10::IValue& value, const ExportedValue& meta) {
  if (value.isTensor()) return value.toTensor();
  if (value.isNone()) return {};
  return at::scalar_tensor(value.toScalar(), at::TensorOptions(meta.dtype));
}

void run_node(const ExportedNode& node, Values& values) {
  try {
    store_outputs(node, call(node, values), values);
  } catch (const std::exception& error) {
    throw ExecutionError("Node '" + node.name + "' (" + node.target +
                         ") failed in the reference: " + message_text(error));
  }
}

Stack run_graph(const ExportedGraph& graph, const Stack& inputs, const ValueObserver& observer,
                const std::unordered_set<std::string>& left_out) {
  Values values(graph);
  const auto tell = [&](ValueId id) {
    if (observer) observer(graph[id].name, as_tensor(values(id), graph[id]));
  };
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    values[graph.inputs[i].value] = inputs.at(i);
    tell(graph.inputs[i].value);
  }
  const std::vector<std::vector<ValueId>> last_uses = find_last_uses(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (left_out.contains(graph.nodes[i].name)) continue;
    run_node(graph.nodes[i], values);
    std::ranges::for_each(graph.nodes[i].outputs, tell);
    for (const ValueId id : last_uses[i]) values[id] = {};
  }
  Stack outputs;
  for (const ValueId output : graph.outputs) outputs.push_back(values(output));
  return outputs;
}

Stack make_inputs(const ExportedProgram& program, const StateDict& weights,
                  const std::vector<at::Tensor>& inputs) {
  const bool copies = writes_in_place(program);
  Copier copier;
  Stack stack;
  size_t next = 0;
  for (const ExportedInput& input : program.inputs) {
    at::Tensor tensor;
    if (input.kind == InputKind::kUserInput) {
      tensor = inputs.at(next++);
    } else if (const at::Tensor* weight = weights.find(input.target)) {
      tensor = *weight;
    } else {
      tensor = program.constants[input.target];
    }
    if (program[input.value].is_scalar) {
      stack.emplace_back(tensor.item());
    } else {
      stack.emplace_back(copies ? copier.copy(tensor) : tensor);
    }
  }
  return stack;
}

}  // namespace

std::vector<at::Tensor> run_program(const ExportedProgram& program, const StateDict& weights,
                                    const std::vector<at::Tensor>& inputs,
                                    const ValueObserver& observer,
                                    const std::unordered_set<std::string>& left_out) {
  const at::NoGradGuard no_grad;
  const Stack results =
      run_graph(program, make_inputs(program, weights, inputs), observer, left_out);
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    outputs.push_back(as_tensor(results[i], program[program.outputs[i]]));
  }
  return outputs;
}

}  // namespace torch_ir
