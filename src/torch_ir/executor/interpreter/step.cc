#include "torch_ir/executor/interpreter/step.h"

#include <fmt/format.h>

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/argument_shapes.h"
#include "torch_ir/operators/argument_values.h"

namespace torch_ir {
namespace {

c10::IValue take(RunValues& values, const ValueUse& use) {
  if (use.is_last) return std::move(values[use.value]);
  return values[use.value];
}

void fill_stack(const LoweredNode& node, RunValues& values, Stack& stack) {
  stack.clear();
  const auto item_value = [&](const auto& item) {
    const auto* use = std::get_if<ValueUse>(&item);
    return use == nullptr ? std::get<c10::IValue>(item) : take(values, *use);
  };
  for (const NodeArgument& argument : node.arguments) {
    if (const auto* fixed = std::get_if<c10::IValue>(&argument)) {
      stack.push_back(*fixed);
    } else if (const auto* use = std::get_if<ValueUse>(&argument)) {
      stack.push_back(take(values, *use));
    } else if (const auto* numbers = std::get_if<NumbersArgument>(&argument)) {
      // The references are found in the order of value_refs.
      auto value = numbers->values.begin();
      stack.push_back(to_ivalue(numbers->attribute, *numbers->argument,
                                [&](const ValueRef& /*ref*/) { return values[*value++]; }));
    } else {
      const auto& list = std::get<ListArgument>(argument);
      stack.push_back(make_tensor_list(list.items, list.holds_none, item_value));
    }
  }
}

// Replaces the inputs on the stack by the outputs.
void call_executor(const ExecutorCall& call, Stack& stack) {
  std::vector<at::Tensor> inputs;
  inputs.reserve(stack.size());
  for (c10::IValue& value : stack) inputs.push_back(std::move(value).toTensor());
  stack.clear();
  for (at::Tensor& output : call.executor(call.node, inputs)) stack.emplace_back(std::move(output));
}

// The tensors and numbers of `value`, those in lists one by one.
void append_values(const c10::IValue& value, std::vector<c10::IValue>& values) {
  if (!value.isList()) {
    values.push_back(value);
    return;
  }
  for (const c10::IValue& item : value.toListRef()) append_values(item, values);
}

bool is_absent(const c10::IValue& value) {
  return value.isNone() || (value.isTensor() && !value.toTensor().defined());
}

bool is_no_tensor(const c10::IValue& value) { return !value.isTensor(); }

// Where the graph leaves out what the operator did not make, or a number or dtype that nobody
// reads, so does this.
void store_values(const LoweredNode& node, const Stack& stack, RunValues& values) {
  std::vector<c10::IValue> results;
  for (const c10::IValue& value : stack) append_values(value, results);
  if (results.size() != node.outputs.size()) std::erase_if(results, is_absent);
  const size_t num_made = results.size();
  if (results.size() != node.outputs.size()) std::erase_if(results, is_no_tensor);
  if (results.size() != node.outputs.size()) {
    throw ExecutionError(
        fmt::format("it returned {} value(s), the graph says {}", num_made, node.outputs.size()));
  }
  for (size_t i = 0; i < results.size(); ++i) values[node.outputs[i]] = std::move(results[i]);
}

void call(const LoweredNode& node, Stack& stack, GraphRunner run_graph) {
  if (const auto* op = std::get_if<c10::OperatorHandle>(&node.callee)) {
    check_argument_shapes(*op, stack);
    check_argument_values(*op, stack);
    op->callBoxed(stack);
  } else if (const auto* function = std::get_if<NumberFunction>(&node.callee)) {
    (*function)(stack);
  } else if (const auto* executor =
                 std::get_if<std::shared_ptr<const ExecutorCall>>(&node.callee)) {
    call_executor(**executor, stack);
  } else {
    run_control_flow(std::get<ControlFlowCall>(node.callee), stack, run_graph);
  }
}

// What the arguments of a call that threw were: they are still on the stack.
std::string shapes_text(const Stack& stack) {
  std::vector<c10::IValue> values;
  for (const c10::IValue& value : stack) append_values(value, values);
  std::string shapes;
  for (const c10::IValue& value : values) {
    if (!value.isTensor()) continue;
    if (!shapes.empty()) shapes += ", ";
    shapes += value.toTensor().defined() ? shape_list_text(value.toTensor().sizes()) : "None";
  }
  return shapes.empty() ? "()" : shapes;
}

}  // namespace

void run_step(const LoweredNode& node, RunValues& values, Stack& stack, GraphRunner run_graph) {
  try {
    fill_stack(node, values, stack);
    call(node, stack, run_graph);
    if (!node.returns_values) {
      store_values(node, stack, values);
      return;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i]] = std::move(stack[i]);
  } catch (const std::exception& error) {
    throw ExecutionError(fmt::format("Node '{}' ({}) failed on inputs of shape {}: {}",
                                     printable(node.name), printable(node.op_type),
                                     shapes_text(stack), message_text(error)));
  }
}

}  // namespace torch_ir
