#include "torch_ir/cases/graph_part.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/operator_effects.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

// Also those in the graphs of control flow.
void add_unsupported(const Node& node, std::vector<std::string>& unsupported) {
  const bool is_supported = operator_support(node.target).is_supported;
  if (!is_supported || node.find_opaque() != nullptr) unsupported.push_back(node.target);
  for (const Graph& graph : node.graphs) {
    for (const Node& inner : graph.nodes) add_unsupported(inner, unsupported);
  }
}

class PartMaker {
 public:
  PartMaker(const GroupedGraph& graph, const GraphMemory& memory, const NodeRange& range,
            const RunFacts& run, const std::function<bool(ValueId)>& is_input)
      : graph_(graph),
        whole_(graph.program),
        memory_(memory),
        range_(range),
        run_(run),
        is_input_(is_input),
        weight_of_(whole_.values.size()),
        is_needed_(whole_.values.size()),
        new_ids_(whole_.values.size()) {
    for (const GraphInput& input : whole_.inputs) {
      if (input.kind != InputKind::kUserInput) weight_of_[input.value] = &input;
    }
  }

  GraphPart make() {
    for (const ValueId output : range_.outputs) need(output);
    find_nodes();
    for (const size_t index : part_.nodes) add_node(whole_.nodes[index]);
    for (const ValueId output : range_.outputs) {
      part_.program.outputs.push_back(new_ids_[output].value());
    }
    std::ranges::move(user_inputs_, std::back_inserter(part_.program.inputs));
    part_.program.model_name = whole_.model_name;
    part_.program.torch_version = whole_.torch_version;
    set_uses(part_.program);
    find_problem();
    return std::move(part_);
  }

 private:
  void need(ValueId value) {
    is_needed_[value] = true;
    needed_memories_.insert(memory_.of(value));
  }

  bool is_needed(size_t index) const {
    const std::vector<ValueId>& outputs = whole_.nodes[index].outputs;
    return (range_.keeps_silent_nodes && outputs.empty()) ||
           std::ranges::any_of(outputs, [&](ValueId output) { return is_needed_[output]; }) ||
           std::ranges::any_of(memory_.written_by(index),
                               [&](size_t memory) { return needed_memories_.contains(memory); });
  }

  void find_nodes() {
    for (size_t end = range_.last + 1; end > range_.first;) {
      const size_t first = graph_.spans[graph_.span_of[end - 1]].first;
      const std::ranges::iota_view group(first, end);
      end = first;
      if (std::ranges::none_of(group, [&](size_t i) { return is_needed(i); })) continue;
      for (const size_t i : std::views::reverse(group)) {
        part_.nodes.push_back(i);
        whole_.nodes[i].for_each_read([&](ValueId value) { need(value); });
      }
    }
    std::ranges::reverse(part_.nodes);
  }

  void add_node(const Node& node) {
    Node copy = node;
    for (Argument& argument : copy.arguments) {
      for_each_value(argument, [&](ValueId& value) { value = use(value); });
    }
    for (Argument& argument : copy.arguments) {
      if (argument.numbers.empty()) continue;
      argument.value =
          with_values(std::get<Attribute>(argument.value), [&](const ValueRef& ref) -> Attribute {
            const auto number = run_.numbers.find(ref.name);
            if (number != run_.numbers.end()) return number->second;
            use(whole_.find(ref.name).value());
            return ref;
          });
    }
    for (ValueId& output : copy.outputs) output = add_value(output);
    part_.program.nodes.push_back(std::move(copy));
  }

  // The value in the part.
  ValueId use(ValueId value) {
    if (new_ids_[value]) return *new_ids_[value];
    const GraphInput* weight = weight_of_[value];
    if (weight == nullptr || is_changed(value)) {
      const ValueId input = add_value(value);
      user_inputs_.push_back({InputKind::kUserInput, input});
      return input;
    }
    part_.program.inputs.push_back({weight->kind, add_value(value), weight->target});
    if (const at::Tensor* constant = whole_.constants.find(weight->target);
        constant != nullptr && !part_.program.constants.contains(weight->target)) {
      part_.program.constants.insert(weight->target, *constant);
    }
    return *new_ids_[value];
  }

  bool is_changed(ValueId placeholder) const {
    return is_input_ ? is_input_(placeholder)
                     : memory_.is_written(memory_.of(placeholder), 0, range_.first);
  }

  ValueId add_value(ValueId id) {
    Value value = whole_[id];
    if (!value.is_scalar) fix_sizes(value);
    value.expression.clear();
    new_ids_[id] = part_.program.add_value(std::move(value));
    old_ids_.push_back(id);
    return *new_ids_[id];
  }

  void fix_sizes(Value& value) {
    const auto shape = run_.shapes.find(value.name);
    if (shape != run_.shapes.end()) {
      value.shape = shape->second;
    } else if (std::ranges::find(value.shape, kDynamicSize) != value.shape.end()) {
      return fail(fmt::format("unknown size of '{}'", value.name));
    }
    const auto dtype = run_.dtypes.find(value.name);
    if (dtype != run_.dtypes.end()) value.dtype = dtype->second;
    value.symbolic_shape.clear();
  }

  void fail(const std::string& problem) {
    if (part_.problem.empty()) part_.problem = problem;
  }

  void find_problem() {
    std::unordered_map<size_t, std::string> inputs;
    std::unordered_set<size_t> written;
    for (const size_t index : part_.nodes) {
      written.insert(memory_.written_by(index).begin(), memory_.written_by(index).end());
    }
    const auto old_id = [&](const GraphInput& input) { return old_ids_[input.value]; };
    for (const GraphInput& input : part_.program.inputs) {
      const size_t memory = memory_.of(old_id(input));
      const std::string& name = whole_[old_id(input)].name;
      const auto [other, is_new] = inputs.emplace(memory, name);
      if (!is_new && written.contains(memory)) {
        fail(fmt::format("'{}' and '{}' may share memory that is written to", other->second, name));
      }
    }
    for (const size_t index : part_.nodes) {
      const Node& node = whole_.nodes[index];
      if (!reads_storage(node)) continue;
      for (const GraphInput& input : part_.program.inputs) {
        const bool is_weight = input.kind != InputKind::kUserInput;
        if (is_weight && !memory_.is_partial(old_id(input))) continue;
        for (const ValueId read : node.inputs()) {
          if (memory_.of(read) != memory_.of(old_id(input))) continue;
          fail(fmt::format("'{}' depends on the memory layout of '{}'", node.name,
                           whole_[old_id(input)].name));
        }
      }
    }
  }

  const GroupedGraph& graph_;
  const Program& whole_;
  const GraphMemory& memory_;
  const NodeRange& range_;
  const RunFacts& run_;
  const std::function<bool(ValueId)>& is_input_;
  std::vector<const GraphInput*> weight_of_;
  std::vector<bool> is_needed_;
  std::unordered_set<size_t> needed_memories_;
  // By ValueId of the whole graph, and of the part.
  std::vector<std::optional<ValueId>> new_ids_;
  std::vector<ValueId> old_ids_;
  std::vector<GraphInput> user_inputs_;
  GraphPart part_;
};

}  // namespace

GraphPart cut_part(const GroupedGraph& graph, const GraphMemory& memory, const NodeRange& range,
                   const RunFacts& run, const std::function<bool(ValueId)>& is_input) {
  return PartMaker(graph, memory, range, run, is_input).make();
}

std::string ComputablePart::left_out() const {
  if (is_whole()) return "";
  std::string text =
      fmt::format("{} of {} nodes are left out: {} with an unsupported operator ({})",
                  num_unsupported + num_dependent, is_computable.size(), num_unsupported,
                  printable(fmt::format("{}", fmt::join(unsupported, ", "))));
  if (num_dependent > 0) text += fmt::format(", {} dependent on such nodes", num_dependent);
  return fmt::format("{}; {}", text, advice_about_unknown(unsupported.front()));
}

ComputablePart computable_part(const Program& program) {
  ComputablePart part;
  std::vector<bool> is_missing(program.values.size());
  bool has_written = false;
  for (const Node& node : program.nodes) {
    std::vector<std::string> unsupported;
    add_unsupported(node, unsupported);
    bool reads_missing = false;
    node.for_each_read([&](ValueId value) { reads_missing = reads_missing || is_missing[value]; });
    const bool is_computable = unsupported.empty() && !has_written && !reads_missing;
    part.is_computable.push_back(is_computable);
    if (is_computable) continue;
    ++(unsupported.empty() ? part.num_dependent : part.num_unsupported);
    for (const std::string& op_type : unsupported) {
      has_written = has_written || writes_by_name(op_type);
      if (std::ranges::find(part.unsupported, op_type) == part.unsupported.end()) {
        part.unsupported.push_back(op_type);
      }
    }
    for (const ValueId output : node.outputs) is_missing[output] = true;
  }
  return part;
}

Program without_uncomputable(Program program, const ComputablePart& part) {
  if (part.is_whole()) return program;
  std::vector<Node> nodes;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    if (part.is_computable[i]) nodes.push_back(std::move(program.nodes[i]));
  }
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const auto producer = program[program.outputs[i]].producer;
    // A node that is left out may be the one that writes.
    if (program.is_in_place(i) || (producer && !part.is_computable[*producer])) continue;
    outputs.push_back(program.outputs[i]);
  }
  // Their places count all outputs.
  if (outputs.size() < program.outputs.size()) {
    program.constant_outputs.clear();
    program.mutations.clear();
  }
  program.outputs = std::move(outputs);
  program.nodes = std::move(nodes);
  set_uses(program);
  return program;
}

}  // namespace torch_ir
