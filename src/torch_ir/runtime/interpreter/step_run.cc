#include <ATen/ops/stack.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/argument_shapes.h"
#include "torch_ir/operators/argument_values.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/runtime/interpreter/run.h"

namespace torch_ir {
namespace {

using GraphRunner = c10::function_ref<Stack(const LoweredGraph& graph, Stack inputs)>;

bool decides_true(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().item<bool>();
  if (value.isBool()) return value.toBool();
  throw ExecutionError("expected a bool as the condition, found " + value.tagKind());
}

void run_cond(const ControlFlowCall& call, Stack& stack, GraphRunner run_graph) {
  const bool is_true = decides_true(stack.at(0));
  // A copy, so that an error can still report the arguments.
  Stack operands(stack.begin() + 1, stack.end());
  stack = run_graph(call.graphs[is_true ? 0 : 1], std::move(operands));
}

bool is_same(const c10::IValue& a, const c10::IValue& b) {
  if (a.isTensor() && b.isTensor()) return same_bits(a.toTensor(), b.toTensor());
  return a.isTensor() == b.isTensor() && a == b;
}

// Detects endless loops: keeps the values of iterations whose number is a power of two and compares
// later ones with them (Brent's algorithm).
class CycleDetector {
 public:
  void check(const Stack& carried) {
    if (++iteration_ < kFirst) return;
    const bool is_at_power = (iteration_ & (iteration_ - 1)) == 0;
    if (!is_at_power && std::ranges::equal(carried, kept_, is_same)) {
      throw ExecutionError("infinite loop: after " + std::to_string(iteration_) +
                           " iterations its values repeat");
    }
    if (is_at_power) kept_ = carried;
  }

 private:
  // Shorter loops are not worth the comparisons.
  static constexpr uint64_t kFirst = 1024;
  uint64_t iteration_ = 0;
  Stack kept_;
};

void run_while_loop(const ControlFlowCall& call, Stack& stack, GraphRunner run_graph) {
  const LoweredGraph& condition = call.graphs[0];
  const LoweredGraph& body = call.graphs[1];
  const size_t num_carried = body.outputs.size();
  CycleDetector cycles;
  while (decides_true(run_graph(condition, stack).at(0))) {
    Stack carried = run_graph(body, stack);
    cycles.check(carried);
    std::ranges::move(carried, stack.begin());
  }
  stack.resize(num_carried);
}

// The length of the first dimension, which all of `sliced` must share.
int64_t num_slices(c10::ArrayRef<c10::IValue> sliced) {
  std::optional<int64_t> count;
  for (const c10::IValue& value : sliced) {
    if (!value.isTensor() || value.toTensor().dim() == 0) {
      throw ExecutionError("expected a tensor with a dimension to loop over, found a number");
    }
    const int64_t size = value.toTensor().size(0);
    if (size != count.value_or(size)) {
      throw ExecutionError(fmt::format(
          "expected tensors of one size in dimension 0, found {} and {}", *count, size));
    }
    count = size;
  }
  if (count.value_or(0) == 0) throw ExecutionError("there is no slice to loop over");
  return *count;
}

// Python's scan and map: the body takes the carried values, a slice of each sliced operand, and the
// invariant operands. It returns the carried values, then results, which are stacked.
void run_loop_over_slices(const ControlFlowCall& call, Stack& stack, GraphRunner run_graph) {
  const c10::ArrayRef<c10::IValue> arguments(stack);
  const auto sliced = arguments.slice(call.num_carried, call.num_sliced);
  const int64_t count = num_slices(sliced);
  Stack carried = arguments.slice(0, call.num_carried).vec();
  std::vector<std::vector<at::Tensor>> results(call.graphs[0].outputs.size() - call.num_carried);
  for (int64_t i = 0; i < count; ++i) {
    Stack inputs = std::move(carried);
    for (const c10::IValue& value : sliced) inputs.emplace_back(value.toTensor().select(0, i));
    inputs.insert(inputs.end(), sliced.end(), arguments.end());
    carried = run_graph(call.graphs[0], std::move(inputs));
    for (size_t k = 0; k < results.size(); ++k) {
      results[k].push_back(carried[call.num_carried + k].toTensor());
    }
    carried.resize(call.num_carried);
  }
  for (const std::vector<at::Tensor>& slices : results) carried.emplace_back(at::stack(slices));
  stack = std::move(carried);
}

// Replaces the arguments on the stack by the results.
void run_control_flow(const ControlFlowCall& call, Stack& stack, GraphRunner run_graph) {
  switch (call.kind) {
    case ControlFlow::kCond:
      return run_cond(call, stack, run_graph);
    case ControlFlow::kWhileLoop:
      return run_while_loop(call, stack, run_graph);
    case ControlFlow::kLoopOverSlices:
      return run_loop_over_slices(call, stack, run_graph);
  }
}

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
      auto value = numbers->given->numbers.begin();
      stack.push_back(to_ivalue(std::get<Attribute>(numbers->given->value), *numbers->argument,
                                [&](const ValueRef& /*ref*/) { return values[*value++]; }));
    } else {
      const auto& list = std::get<ListArgument>(argument);
      stack.push_back(make_tensor_list(list.items, list.holds_none, item_value));
    }
  }
}

void call_op_handler(const OpHandlerCall& call, Stack& stack) {
  std::vector<at::Tensor> inputs;
  inputs.reserve(stack.size());
  for (c10::IValue& value : stack) inputs.push_back(std::move(value).toTensor());
  stack.clear();
  for (at::Tensor& output : call.handler(call.node, inputs)) stack.emplace_back(std::move(output));
}

void call(const LoweredNode& node, Stack& stack, GraphRunner run_graph) {
  const c10::impl::ForceDispatchKeyGuard keys(keys_for_call(stack));
  if (const auto* op = std::get_if<c10::OperatorHandle>(&node.callee)) {
    check_argument_shapes(*op, stack);
    check_argument_values(*op, stack);
    op->callBoxed(stack);
  } else if (const auto* function = std::get_if<NumberFunction>(&node.callee)) {
    (*function)(stack);
  } else if (const auto* handler =
                 std::get_if<std::shared_ptr<const OpHandlerCall>>(&node.callee)) {
    call_op_handler(**handler, stack);
  } else {
    run_control_flow(std::get<ControlFlowCall>(node.callee), stack, run_graph);
  }
}

// The arguments of a call that threw are still on the stack.
std::string shapes_text(const Stack& stack) {
  std::string shapes;
  for (const c10::IValue& value : flat_values(stack)) {
    if (!value.isTensor()) continue;
    if (!shapes.empty()) shapes += ", ";
    shapes += value.toTensor().defined() ? shape_list_text(value.toTensor().sizes()) : "None";
  }
  return shapes.empty() ? "()" : shapes;
}

// Throws ExecutionError that names the node and the shapes of its arguments. `stack` is scratch.
void run_step(const LoweredNode& node, RunValues& values, Stack& stack, GraphRunner run_graph) {
  try {
    fill_stack(node, values, stack);
    call(node, stack, run_graph);
    if (!node.returns_values) stack = output_values(stack, node.outputs().size());
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      values[node.outputs()[i]] = std::move(stack[i]);
    }
  } catch (const std::exception& error) {
    throw ExecutionError(fmt::format("Node '{}' ({}) failed on inputs of shape {}: {}",
                                     printable(node.name()), printable(node.op_type()),
                                     shapes_text(stack), message_text(error)));
  }
}

// Copies the tensors that the run writes to, and all tensors that share their memory: an input
// passed twice stays one tensor.
void store_copies(const LoweredGraph& graph, const Stack& inputs, RunValues& values) {
  std::vector<ValueId> ids;
  // Undefined tensors stand in for numbers.
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ids.push_back(graph.inputs[i].value);
    tensors.push_back(inputs[i].isTensor() ? inputs[i].toTensor() : at::Tensor());
  }
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const LoweredValue& value = graph.values[id];
    if (!value.constant.defined() || value.is_fixed()) continue;
    ids.push_back(id);
    tensors.push_back(value.constant);
  }
  const std::vector<size_t> groups = overlap_groups(tensors);
  std::map<size_t, std::vector<size_t>> members;
  for (size_t i = 0; i < tensors.size(); ++i) members[groups[i]].push_back(i);
  const auto is_written = [&](size_t i) { return graph.values[ids[i]].is_written; };
  for (const auto& [group, indices] : members) {
    std::vector<at::Tensor> originals;
    for (const size_t i : indices) originals.push_back(tensors[i]);
    const bool is_copied = std::any_of(indices.begin(), indices.end(), is_written);
    const std::vector<at::Tensor> copies = is_copied ? copy_group(originals) : originals;
    for (size_t k = 0; k < indices.size(); ++k) values[ids[indices[k]]] = copies[k];
  }
}

void store_inputs(const LoweredGraph& graph, const Stack& inputs, RunValues& values) {
  if (graph.writes_in_place) store_copies(graph, inputs, values);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (graph.writes_in_place && inputs[i].isTensor()) continue;
    values[graph.inputs[i].value] = inputs[i];
  }
}

// "node 'relu' (aten.relu.default): output 'relu' is a number, but the IR declares a tensor"; empty
// if the value is as declared. Binds symbols whose value depends on data.
std::string difference(const LoweredNode& node, const Value& declared, const c10::IValue& value,
                       SymbolValues& symbols) {
  const auto is = [&](const std::string& found, const std::string& expected) {
    return fmt::format("node '{}' ({}): output '{}' is {}, but the IR declares {}",
                       printable(node.name()), printable(node.op_type()), printable(declared.name),
                       found, expected);
  };
  if (!value.isTensor()) {
    if (!declared.is_scalar) return is("a number", "a tensor");
    if (value.isDouble() && declared.dtype != c10::kDouble) {
      return is("a float", dtype_name(declared.dtype));
    }
    if (declared.dtype == c10::kLong && !declared.expression.empty() && value.isInt()) {
      const auto symbol = SymExpr::parse(declared.expression).as_symbol();
      if (symbol) symbols.emplace(*symbol, value.toInt());
    }
    return "";
  }
  const at::Tensor& output = value.toTensor();
  if (!output.defined()) return "";
  if (declared.is_scalar) return is("a tensor", "a number");
  if (has_shape(output, declared, symbols) && output.scalar_type() == declared.dtype) return "";
  return is(dtype_and_shape(output), dtype_and_shape(declared));
}

}  // namespace

StepRun::StepRun(const LoweredGraph& graph, const Stack& inputs, SymbolValues* symbols,
                 const BodyRunner* run_body)
    : graph_(graph),
      outputs_(graph.outputs),
      last_(graph.nodes.size()),
      symbols_(symbols),
      run_body_(run_body),
      values_(graph.values.size()) {
  store_inputs(graph, inputs, values_);
}

StepRun::StepRun(const GraphRange& range, const Stack& inputs, SymbolValues* symbols)
    : graph_(*range.graph),
      outputs_(range.outputs),
      last_(range.last),
      symbols_(symbols),
      values_(graph_.values.size()),
      next_step_(range.first) {
  if (range.is_whole) {
    store_inputs(graph_, inputs, values_);
  } else {
    for (size_t i = 0; i < inputs.size(); ++i) values_[range.inputs[i].value] = inputs[i];
  }
}

void StepRun::drop_unread() {
  if (next_step_ == 0) return;
  for (const ValueId unread : graph_.nodes[next_step_ - 1].unread) values_[unread] = {};
}

void StepRun::skip(const Stack& made) {
  drop_unread();
  const LoweredNode& node = graph_.nodes[next_step_];
  // Takes the values that are read here last.
  fill_stack(node, values_, stack_);
  stack_.clear();
  for (size_t i = 0; i < made.size(); ++i) values_[node.outputs()[i]] = made[i];
  ++next_step_;
}

void StepRun::advance() {
  drop_unread();
  const LoweredNode& node = graph_.nodes[next_step_];
  run_step(node, values_, stack_,
           [this](const LoweredGraph& graph, Stack inputs) { return run_inner(graph, inputs); });
  ++next_step_;
  if (symbols_ != nullptr) check_results(node);
}

Stack StepRun::run_inner(const LoweredGraph& graph, const Stack& inputs) const {
  // A data-dependent symbol may have another value in each iteration.
  SymbolValues symbols;
  if (symbols_ != nullptr) symbols = *symbols_;
  SymbolValues* const checked = symbols_ == nullptr ? nullptr : &symbols;
  if (run_body_ != nullptr) return (*run_body_)(graph, inputs, checked);
  return run_steps(graph, inputs, checked);
}

Stack StepRun::outputs() const {
  Stack outputs;
  outputs.reserve(outputs_.size());
  for (const GraphPort& output : outputs_) {
    const LoweredValue& value = graph_.values[output.value];
    outputs.push_back(value.is_fixed() ? c10::IValue(value.constant) : values_[output.value]);
  }
  return outputs;
}

// PyTorch's own functions that declare the shape and dtype of a result are wrong in places, and
// torch.export trusts them. Op handlers have no such excuse. The nodes inside of control flow have
// warned already.
void StepRun::check_results(const LoweredNode& node) const {
  const bool is_operator = std::holds_alternative<c10::OperatorHandle>(node.callee);
  const bool is_control_flow = std::holds_alternative<ControlFlowCall>(node.callee);
  std::vector<ValueId> differing;
  std::string first;
  for (const ValueId output : node.outputs()) {
    const LoweredValue& value = graph_.values[output];
    if (!value.is_read) continue;
    std::string text = difference(node, *value.declared, values_[output], *symbols_);
    if (text.empty()) continue;
    const bool is_number = !values_[output].isTensor() || value.is_scalar();
    const bool is_error = graph_.differing == nullptr || is_number;
    if (is_error || !(is_operator || is_control_flow)) throw ExecutionError(text);
    differing.push_back(output);
    if (first.empty()) first = std::move(text);
  }
  if (differing.empty()) return;
  const bool is_new = graph_.differing->add(node, differing);
  if (is_new && is_operator) {
    TORCH_WARN(first, "; the run goes on with what PyTorch's operator returned");
  }
}

}  // namespace torch_ir
