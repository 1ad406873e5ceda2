#include <ATen/core/jit_type.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <ranges>

#include "torch_ir/ir/validate.h"
#include "torch_ir/runtime/graph/bind_weights.h"
#include "torch_ir/runtime/graph/lowered_graph.h"

namespace torch_ir {
namespace {

// Whether each result of the operator is one node output: a tensor or a number, not a list.
bool returns_values(const LoweredNode& node) {
  const auto* op = std::get_if<c10::OperatorHandle>(&node.callee);
  if (op == nullptr) return std::holds_alternative<NumberFunction>(node.callee);
  const std::vector<c10::Argument>& returns = op->schema().returns();
  return returns.size() == node.outputs.size() &&
         std::none_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
           return result.type()->kind() == c10::TypeKind::ListType ||
                  result.type()->kind() == c10::TypeKind::OptionalType;
         });
}

void mark_values(LoweredGraph& graph) {
  const AliasAnalysis aliases = analyze_aliases(graph);
  for (const LoweredNode& node : graph.nodes) {
    visit_values(node, [&](ValueId value) { graph.values[value].is_read = true; });
  }
  for (const GraphPort& output : graph.outputs) graph.values[output.value].is_read = true;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    LoweredValue& value = graph.values[id];
    value.is_written = aliases.is_written[id];
    value.may_be_constant = aliases.may_be_constant[id] && !value.is_written;
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
        for (const ValueId number : numbers->values) is_read_later[number] = true;
      }
    }
  }
}

void prepare_for_runs(LoweredGraph& graph) {
  mark_values(graph);
  for (LoweredNode& node : graph.nodes) {
    if (auto* call = std::get_if<ControlFlowCall>(&node.callee)) {
      std::ranges::for_each(call->graphs, prepare_for_runs);
    }
    fix_constants(graph, node);
    node.returns_values = returns_values(node);
    std::ranges::copy_if(node.outputs, std::back_inserter(node.unread),
                         [&](ValueId output) { return !graph.values[output].is_read; });
  }
  mark_last_uses(graph);
}

}  // namespace

LoweredGraph lower(const IR& ir, const StateDict& weights, const StateDict& constants,
                   std::optional<c10::Device> device) {
  validate_ir(ir);
  LoweredGraph graph = build_graph(ir, bind_weights(ir, weights, constants, device));
  prepare_for_runs(graph);
  for (const std::string& guard : graph.symbols.unreadable_guards()) {
    TORCH_WARN("Runs do not check a guard of the model: ", guard);
  }
  return graph;
}

}  // namespace torch_ir
