#include "torch_ir/executor/interpreter/step.h"

#include <ATen/core/List.h>
#include <fmt/format.h>

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/executor/interpreter/control_flow.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

c10::IValue take(Slots& slots, const SlotUse& use) {
  if (use.is_last) return std::move(slots[use.slot]);
  return slots[use.slot];
}

template <class Element>
c10::IValue make_list(const StackList& description, Slots& slots) {
  c10::List<Element> list;
  list.reserve(description.items.size());
  for (const StackList::Item& item : description.items) {
    if (const auto* use = std::get_if<SlotUse>(&item)) {
      list.push_back(take(slots, *use).toTensor());
    } else if (const auto* tensor = std::get_if<at::Tensor>(&item)) {
      list.push_back(*tensor);
    } else {
      list.push_back(Element());
    }
  }
  return list;
}

Attribute as_attribute(const c10::IValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isDouble()) return value.toDouble();
  if (value.isInt()) return value.toInt();
  throw ExecutionError("a number is needed, not " + value.tagKind());
}

c10::IValue resolve(const StackNumbers& numbers, const Slots& slots) {
  const Attribute attribute = with_values(numbers.attribute, [&](const ValueRef& ref) {
    return as_attribute(slots[numbers.slots.at(ref.name)]);
  });
  return to_ivalue(attribute, *numbers.argument);
}

void fill_stack(const Step& step, Slots& slots, Stack& stack) {
  stack.assign(step.arguments.begin(), step.arguments.end());
  for (const StackFill& fill : step.fills) stack[fill.position] = take(slots, fill.use);
  for (const StackList& list : step.lists) {
    stack[list.position] = list.holds_none ? make_list<std::optional<at::Tensor>>(list, slots)
                                           : make_list<at::Tensor>(list, slots);
  }
  for (const StackNumbers& numbers : step.numbers) {
    stack[numbers.position] = resolve(numbers, slots);
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
void store_values(const Step& step, const Stack& stack, Slots& slots) {
  std::vector<c10::IValue> values;
  for (const c10::IValue& value : stack) append_values(value, values);
  if (values.size() != step.outputs.size()) std::erase_if(values, is_absent);
  const size_t num_made = values.size();
  if (values.size() != step.outputs.size()) std::erase_if(values, is_no_tensor);
  if (values.size() != step.outputs.size()) {
    throw ExecutionError(
        fmt::format("it returned {} value(s), the graph says {}", num_made, step.outputs.size()));
  }
  for (size_t i = 0; i < values.size(); ++i) store(slots, step.outputs[i], std::move(values[i]));
}

void call(const Step& step, Stack& stack, ProgramRunner run_program) {
  if (const auto* op = std::get_if<c10::OperatorHandle>(&step.callee)) {
    op->callBoxed(stack);
  } else if (const auto* kernel = std::get_if<Kernel>(&step.callee)) {
    (*kernel)(stack);
  } else if (const auto* executor =
                 std::get_if<std::shared_ptr<const ExecutorCall>>(&step.callee)) {
    call_executor(**executor, stack);
  } else {
    run_control_flow(*std::get<std::shared_ptr<const ControlFlowCall>>(step.callee), stack,
                     run_program);
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

void run_step(const Step& step, Slots& slots, Stack& stack, ProgramRunner run_program) {
  try {
    fill_stack(step, slots, stack);
    call(step, stack, run_program);
    if (!step.returns_values) {
      store_values(step, stack, slots);
      return;
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      store(slots, step.outputs[i], std::move(stack[i]));
    }
  } catch (const std::exception& error) {
    throw ExecutionError(fmt::format("Node '{}' ({}) failed on inputs of shape {}: {}",
                                     printable(step.name), printable(step.op_type),
                                     shapes_text(stack), message_text(error)));
  }
}

}  // namespace torch_ir
