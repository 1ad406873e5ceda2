#include "torch_ir/cases/graph_part.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/operators/operator_effects.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/python_operators/python_operators.h"

namespace torch_ir {
namespace {

bool has(const std::vector<TensorMeta>& metas, const std::string& name) {
  return std::ranges::find(metas, name, &TensorMeta::name) != metas.end();
}

// Also those in the graphs of control flow.
void add_unsupported(const OpNode& node, std::vector<std::string>& unsupported) {
  if (!operator_support(node.op_type).is_supported) unsupported.push_back(node.op_type);
  for (const IRGraph& graph : node.graphs) {
    for (const OpNode& inner : graph.nodes) add_unsupported(inner, unsupported);
  }
}

}  // namespace

class PartCutter::Maker {
 public:
  Maker(const PartCutter& cutter, const NodeRange& range, const RunFacts& run,
        const std::function<bool(const std::string&)>& is_input)
      : cutter_(cutter),
        ir_(cutter.ir_),
        memory_(cutter.memory_),
        values_(cutter.values_),
        range_(range),
        run_(run),
        is_input_(is_input) {}

  GraphPart make() {
    for (const std::string& output : range_.outputs) need(output);
    find_nodes();
    for (const size_t index : part_.nodes) add_node(ir_.nodes[index]);
    for (const std::string& output : range_.outputs) {
      part_.ir.graph_outputs.push_back(made_.at(output));
    }
    part_.ir.model_name = ir_.model_name;
    part_.ir.pytorch_version = ir_.pytorch_version;
    find_problem();
    return std::move(part_);
  }

 private:
  void need(const std::string& value) {
    needed_.insert(value);
    if (const auto memory = memory_.of(value)) needed_memories_.insert(*memory);
  }

  bool is_needed(size_t index) const {
    const auto makes_needed = [&](const TensorMeta& output) {
      return needed_.contains(output.name);
    };
    const auto is_read = [&](size_t memory) { return needed_memories_.contains(memory); };
    return (range_.keeps_silent_nodes && ir_.nodes[index].outputs.empty()) ||
           std::ranges::any_of(ir_.nodes[index].outputs, makes_needed) ||
           std::ranges::any_of(memory_.written_by(index), is_read);
  }

  void find_nodes() {
    for (size_t end = range_.last + 1; end > range_.first;) {
      const size_t first = cutter_.first_of_group_[end - 1];
      const std::ranges::iota_view group(first, end);
      end = first;
      if (std::ranges::none_of(group, [&](size_t i) { return is_needed(i); })) continue;
      for (const size_t i : std::views::reverse(group)) {
        part_.nodes.push_back(i);
        values_.for_each_read(ir_.nodes[i], [&](const std::string& value) { need(value); });
      }
    }
    std::ranges::reverse(part_.nodes);
  }

  void add_node(const OpNode& node) {
    OpNode copy = node;
    for (TensorMeta& input : copy.inputs) use(input);
    for (const auto& [name, attribute] : node.attrs) {
      if (value_refs(attribute).empty()) continue;
      copy.attrs.set(name, with_values(attribute, [&](const ValueRef& ref) -> Attribute {
                       const auto number = run_.numbers.find(ref.name);
                       if (number != run_.numbers.end()) return number->second;
                       add_number(ref.name);
                       return ref;
                     }));
    }
    for (size_t i = 0; i < copy.outputs.size(); ++i) {
      fix_sizes(copy.outputs[i]);
      TensorMeta& made = made_.emplace(copy.outputs[i].name, copy.outputs[i]).first->second;
      made.producer_node = node.name;
      made.producer_output_idx = static_cast<int64_t>(i);
    }
    part_.ir.nodes.push_back(std::move(copy));
  }

  // Numbers that attributes refer to are values of the graph too.
  void add_number(const std::string& value) {
    const GraphValues::Value* known = values_.find(value);
    if (made_.contains(value) || known == nullptr) return;
    TensorMeta input = *known->meta;
    add_input(input, value);
  }

  void use(TensorMeta& input) {
    const std::string value = values_.name_of(input);
    if (made_.contains(value)) {
      fix_sizes(input);
    } else if (ir_.weight_name_mapping.contains(value) && !is_changed(value)) {
      add_weight(value);
    } else {
      input.name = value;
      add_input(input, value);
    }
  }

  bool is_changed(const std::string& placeholder) const {
    if (is_input_) return is_input_(placeholder);
    const auto memory = memory_.of(placeholder);
    return memory && memory_.is_written(*memory, 0, range_.first);
  }

  void add_weight(const std::string& placeholder) {
    if (part_.ir.weight_name_mapping.contains(placeholder)) return;
    const std::string& name = ir_.weight_name_mapping[placeholder];
    part_.ir.weight_name_mapping.insert(placeholder, name);
    if (has(part_.ir.weights, name)) return;
    const auto weight = std::ranges::find(ir_.weights, name, &TensorMeta::name);
    if (weight != ir_.weights.end()) part_.ir.weights.push_back(*weight);
    if (const at::Tensor* constant = ir_.constants.find(name)) {
      part_.ir.constants.insert(name, *constant);
    }
  }

  void add_input(TensorMeta& input, const std::string& value) {
    input.producer_node = value;
    input.producer_output_idx = 0;
    fix_sizes(input);
    if (has(part_.ir.graph_inputs, input.name)) return;
    part_.ir.graph_inputs.push_back(input);
    part_.ir.graph_inputs.back().arg.clear();
  }

  void fix_sizes(TensorMeta& meta) {
    const std::string& value = values_.name_of(meta);
    const auto shape = run_.shapes.find(value);
    if (shape != run_.shapes.end() && !meta.is_scalar) {
      meta.shape = shape->second;
    } else if (std::ranges::find(meta.shape, kDynamicSize) != meta.shape.end()) {
      return fail(fmt::format("unknown size of '{}'", value));
    }
    const auto dtype = run_.dtypes.find(value);
    if (dtype != run_.dtypes.end() && !meta.is_scalar) meta.dtype = dtype_name(dtype->second);
    meta.symbolic_shape.clear();
    meta.expression.clear();
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
    const auto check = [&](const std::string& value) {
      const auto memory = memory_.of(value);
      if (!memory) return;
      const auto [other, is_new] = inputs.emplace(*memory, value);
      if (!is_new && written.contains(*memory)) {
        fail(
            fmt::format("'{}' and '{}' may share memory that is written to", other->second, value));
      }
    };
    for (const TensorMeta& input : part_.ir.graph_inputs) check(input.name);
    for (const auto& weight : part_.ir.weight_name_mapping) check(weight.key());
    for (const OpNode& node : part_.ir.nodes) {
      if (!reads_storage(node)) continue;
      const auto check_storage = [&](const std::string& value) {
        const auto memory = memory_.of(value);
        for (const TensorMeta& input : node.inputs) {
          if (!memory || memory_.of(input.name) != memory) continue;
          fail(fmt::format("'{}' depends on the memory layout of '{}'", node.name, value));
        }
      };
      for (const TensorMeta& input : part_.ir.graph_inputs) check_storage(input.name);
      for (const auto& weight : part_.ir.weight_name_mapping) {
        if (memory_.is_partial(weight.key())) check_storage(weight.key());
      }
    }
  }

  const PartCutter& cutter_;
  const IR& ir_;
  const GraphMemory& memory_;
  const GraphValues& values_;
  const NodeRange& range_;
  const RunFacts& run_;
  const std::function<bool(const std::string&)>& is_input_;
  std::unordered_set<std::string> needed_;
  std::unordered_set<size_t> needed_memories_;
  std::unordered_map<std::string, TensorMeta> made_;
  GraphPart part_;
};

PartCutter::PartCutter(const IR& ir, const GraphMemory& memory, const std::vector<NodeSpan>& spans)
    : ir_(ir), memory_(memory), values_(ir), first_of_group_(ir.nodes.size()) {
  std::iota(first_of_group_.begin(), first_of_group_.end(), 0);
  for (const NodeSpan& span : spans) {
    for (size_t i = span.first; i <= span.last; ++i) first_of_group_[i] = span.first;
  }
}

GraphPart PartCutter::cut(const NodeRange& range, const RunFacts& run,
                          const std::function<bool(const std::string&)>& is_input) const {
  return Maker(*this, range, run, is_input).make();
}

std::string ComputablePart::left_out() const {
  if (is_whole()) return "";
  const size_t num_left_out = num_unsupported + num_dependent;
  std::string text =
      fmt::format("{} of {} nodes are left out: {} with an unsupported operator ({})", num_left_out,
                  ir.nodes.size() + num_left_out, num_unsupported,
                  printable(fmt::format("{}", fmt::join(unsupported, ", "))));
  if (num_dependent > 0) text += fmt::format(", {} dependent on such nodes", num_dependent);
  return fmt::format("{}; {}", text, advice_about_unknown(unsupported.front()));
}

ComputablePart computable_part(const IR& ir) {
  ComputablePart part{.ir = ir};
  const GraphValues values(ir);
  std::unordered_set<std::string> missing_values;
  bool has_written = false;
  const auto reads_missing = [&](const OpNode& node) {
    bool reads = false;
    values.for_each_read(node, [&](const auto& it) { reads |= missing_values.contains(it); });
    return reads;
  };
  part.ir.nodes.clear();
  for (const OpNode& node : ir.nodes) {
    std::vector<std::string> unsupported;
    add_unsupported(node, unsupported);
    if (unsupported.empty() && !has_written && !reads_missing(node)) {
      part.ir.nodes.push_back(node);
      continue;
    }
    ++(unsupported.empty() ? part.num_dependent : part.num_unsupported);
    for (const std::string& op_type : unsupported) {
      has_written = has_written || writes_by_name(op_type);
      if (std::ranges::find(part.unsupported, op_type) == part.unsupported.end()) {
        part.unsupported.push_back(op_type);
      }
    }
    for (const TensorMeta& output : node.outputs) missing_values.insert(output.name);
  }
  const size_t num_removed = std::erase_if(part.ir.graph_outputs, [&](const TensorMeta& output) {
    return missing_values.contains(values.name_of(output));
  });
  // Their places count all outputs.
  if (num_removed > 0) part.ir.constant_outputs.clear();
  return part;
}

const at::Tensor* find_weight(const IR& ir, const StateDict& weights,
                              const std::string& placeholder) {
  const std::string* name = ir.weight_name_mapping.find(placeholder);
  for (const StateDict* tensors : {&weights, &ir.constants}) {
    for (const std::string* key : {name, &placeholder}) {
      const at::Tensor* tensor = key == nullptr ? nullptr : tensors->find(*key);
      if (tensor != nullptr) return tensor;
    }
  }
  return nullptr;
}

}  // namespace torch_ir
