#include "torch_ir/executor/graph/lower.h"

#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <utility>

#include "torch_ir/executor/graph/alias_analysis.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

constexpr size_t kNever = SIZE_MAX;

// Whether each result of the operator is one output of the node: a tensor or a number, no list.
bool returns_values(const PlanNode& node) {
  const auto* op = std::get_if<c10::OperatorHandle>(&node.callee);
  if (op == nullptr) return std::holds_alternative<NumberFunction>(node.callee);
  const std::vector<c10::Argument>& returns = op->schema().returns();
  return returns.size() == node.outputs.size() &&
         std::none_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
           return result.type()->kind() == c10::TypeKind::ListType ||
                  result.type()->kind() == c10::TypeKind::OptionalType;
         });
}

// A list of fixed tensors only, made once.
template <class Element>
c10::IValue fixed_list(const std::vector<StackList::Item>& items) {
  c10::List<Element> list;
  for (const StackList::Item& item : items) {
    const auto* tensor = std::get_if<at::Tensor>(&item);
    list.push_back(tensor == nullptr ? Element() : Element(*tensor));
  }
  return list;
}

class Lowering {
 public:
  Lowering(const PlanGraph& graph, const std::vector<SymbolRange>& ranges, UnreadResults unread)
      : graph_(graph),
        ranges_(ranges),
        unread_(unread),
        aliases_(analyze_aliases(graph)),
        slots_(graph.values.size(), kNoSlot) {}

  Program lower() {
    program_.device = graph_.device;
    program_.symbols = SymbolBinder(graph_.source->graph_inputs, ranges_);
    find_last_uses();
    lower_inputs();
    lower_written_constants();
    program_.steps.reserve(graph_.nodes.size());
    program_.step_outputs.reserve(graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      program_.steps.push_back(lower_node(graph_.nodes[i], i));
      program_.step_outputs.push_back(graph_.nodes[i].source->outputs);
    }
    lower_outputs();
    return std::move(program_);
  }

 private:
  // Whether `value` is the same tensor in every run.
  bool is_fixed(ValueId value) const {
    return graph_.values[value].constant.defined() && !aliases_.is_written[value];
  }

  void find_last_uses() {
    last_use_.assign(graph_.values.size(), 0);
    is_used_.assign(graph_.values.size(), false);
    const auto use = [&](ValueId value, size_t when) {
      last_use_[value] = when;
      is_used_[value] = true;
    };
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      visit_values(graph_.nodes[i], [&](ValueId value) { use(value, i); });
    }
    for (const ValueId value : graph_.outputs) use(value, kNever);
  }

  Slot take_slot(ValueId value) { return is_used_[value] ? take_any_slot(value) : kNoSlot; }

  Slot take_any_slot(ValueId value) {
    if (free_slots_.empty()) {
      slots_[value] = static_cast<Slot>(program_.num_slots++);
    } else {
      slots_[value] = free_slots_.back();
      free_slots_.pop_back();
    }
    return slots_[value];
  }

  void lower_inputs() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const ValueId value = graph_.inputs[i];
      const bool is_written = aliases_.is_written[value];
      program_.writes_in_place |= is_written;
      const TensorMeta& meta = graph_.source->graph_inputs[i];
      program_.inputs.push_back({meta, parse_dtype(meta.dtype), take_slot(value), is_written});
    }
  }

  void lower_written_constants() {
    for (ValueId value = 0; value < graph_.values.size(); ++value) {
      const at::Tensor& constant = graph_.values[value].constant;
      if (!constant.defined() || !aliases_.is_written[value]) continue;
      program_.writes_in_place = true;
      program_.written_constants.push_back({constant, take_slot(value)});
    }
  }

  Step lower_node(const PlanNode& node, size_t index) {
    Step step{node.source->name, node.source->op_type, callee(node), {}, {}, {}, {}, {}};
    step.arguments.reserve(node.arguments.size());
    step.fills.reserve(num_fills(node));
    for (const PlanArgument& argument : node.arguments) lower_argument(argument, step);
    release_last_uses(node, index, step);
    step.outputs.reserve(node.outputs.size());
    lower_results(node, step);
    step.returns_values = returns_values(node);
    program_.stack_size = std::max(program_.stack_size, step.arguments.size());
    return step;
  }

  void lower_results(const PlanNode& node, Step& step) {
    if (unread_ == UnreadResults::kDrop) {
      for (const ValueId output : node.outputs) step.outputs.push_back(take_slot(output));
      return;
    }
    for (const ValueId output : node.outputs) step.outputs.push_back(take_any_slot(output));
    for (const ValueId output : node.outputs) {
      if (!is_used_[output]) free_slots_.push_back(slots_[output]);
    }
  }

  size_t num_fills(const PlanNode& node) const {
    return static_cast<size_t>(std::ranges::count_if(node.arguments, [&](const auto& argument) {
      const auto* value = std::get_if<ValueId>(&argument);
      return value != nullptr && !is_fixed(*value);
    }));
  }

  decltype(Step::callee) callee(const PlanNode& node) const {
    if (const auto* op = std::get_if<c10::OperatorHandle>(&node.callee)) return *op;
    if (const auto* function = std::get_if<NumberFunction>(&node.callee)) return *function;
    if (const auto* control_flow = std::get_if<PlanControlFlow>(&node.callee)) {
      auto call = std::make_shared<ControlFlowCall>();
      call->kind = control_flow->kind;
      for (const PlanGraph& graph : control_flow->graphs) {
        call->programs.push_back(torch_ir::lower(graph, ranges_));
      }
      return call;
    }
    return std::make_shared<const ExecutorCall>(
        ExecutorCall{std::get<OpExecutor>(node.callee), *node.source});
  }

  void lower_argument(const PlanArgument& argument, Step& step) {
    const auto position = static_cast<uint32_t>(step.arguments.size());
    step.arguments.emplace_back();
    if (const auto* fixed = std::get_if<c10::IValue>(&argument)) {
      step.arguments.back() = *fixed;
    } else if (const auto* value = std::get_if<ValueId>(&argument)) {
      if (is_fixed(*value)) {
        step.arguments.back() = graph_.values[*value].constant;
      } else {
        step.fills.push_back({position, {slots_[*value], false}});
      }
    } else if (const auto* numbers = std::get_if<PlanNumbers>(&argument)) {
      lower_numbers(*numbers, position, step);
    } else {
      lower_list(std::get<PlanList>(argument), position, step);
    }
  }

  void lower_numbers(const PlanNumbers& numbers, uint32_t position, Step& step) {
    StackNumbers lowered{position, *numbers.attribute, numbers.argument, {}};
    const std::vector<std::string> names = value_refs(*numbers.attribute);
    for (size_t i = 0; i < names.size(); ++i) {
      lowered.slots.emplace(names[i], slots_[numbers.values[i]]);
    }
    step.numbers.push_back(std::move(lowered));
  }

  void lower_list(const PlanList& list, uint32_t position, Step& step) {
    StackList lowered{position, {}, list.holds_none};
    bool is_fixed_list = true;
    for (const auto& value : list.values) {
      if (!value) {
        lowered.items.emplace_back();
      } else if (is_fixed(*value)) {
        lowered.items.emplace_back(graph_.values[*value].constant);
      } else {
        lowered.items.emplace_back(SlotUse{slots_[*value], false});
        is_fixed_list = false;
      }
    }
    if (!is_fixed_list) {
      step.lists.push_back(std::move(lowered));
    } else if (list.holds_none) {
      step.arguments[position] = fixed_list<std::optional<at::Tensor>>(lowered.items);
    } else {
      step.arguments[position] = fixed_list<at::Tensor>(lowered.items);
    }
  }

  // Lets the values that node `index` is the last to read leave their slots, each with its last
  // reading in the order of a run: fills, then lists.
  void release_last_uses(const PlanNode& node, size_t index, Step& step) {
    released_.clear();
    visit_values(node, [&](ValueId value) {
      const bool is_last = !is_fixed(value) && last_use_[value] == index;
      if (is_last && std::ranges::find(released_, slots_[value]) == released_.end()) {
        released_.push_back(slots_[value]);
      }
    });
    free_slots_.insert(free_slots_.end(), released_.begin(), released_.end());
    const auto mark = [&](SlotUse& use) { use.is_last = std::erase(released_, use.slot) > 0; };
    for (auto list = step.lists.rbegin(); list != step.lists.rend(); ++list) {
      for (auto item = list->items.rbegin(); item != list->items.rend(); ++item) {
        if (auto* use = std::get_if<SlotUse>(&*item)) mark(*use);
      }
    }
    for (auto fill = step.fills.rbegin(); fill != step.fills.rend(); ++fill) mark(fill->use);
  }

  void lower_outputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId value = graph_.outputs[i];
      const TensorMeta& meta = graph_.source->graph_outputs[i];
      ProgramOutput output{meta.name, parse_dtype(meta.dtype), slots_[value], {}, false};
      if (is_fixed(value)) output.constant = graph_.values[value].constant;
      output.may_be_constant = aliases_.may_be_constant[value] && !aliases_.is_written[value];
      program_.outputs.push_back(std::move(output));
    }
    for (ValueId value = 0; value < graph_.values.size(); ++value) {
      if (is_fixed(value)) program_.constants.push_back(graph_.values[value].constant);
    }
  }

  const PlanGraph& graph_;
  const std::vector<SymbolRange>& ranges_;
  const UnreadResults unread_;
  const AliasAnalysis aliases_;
  Program program_;
  std::vector<size_t> last_use_;
  std::vector<bool> is_used_;
  std::vector<Slot> slots_;
  std::vector<Slot> free_slots_;
  // Those that the node at hand is the last to read.
  std::vector<Slot> released_;
};

}  // namespace

Program lower(const PlanGraph& graph, const std::vector<SymbolRange>& ranges,
              UnreadResults unread) {
  return Lowering(graph, ranges, unread).lower();
}

}  // namespace torch_ir
