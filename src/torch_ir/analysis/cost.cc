#include "torch_ir/analysis/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/analysis/multiply_adds.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

std::optional<int64_t> bytes_of(const TensorMeta& meta) {
  if (meta.is_scalar) return 0;
  const auto dtype = find_dtype(meta.dtype);
  if (!dtype) return std::nullopt;
  return (count_elements(meta) * static_cast<int64_t>(c10::elementSize(*dtype))).value();
}

// 0 if the size is dynamic.
int64_t num_elements_of(const TensorMeta& meta) { return count_elements(meta).value().value_or(0); }

struct KnownOperator {
  explicit KnownOperator(const std::string& op_type)
      : formula(find_formula(op_type)), schema(find_schema(op_type)) {
    if (schema != nullptr) binder.emplace(*schema);
  }

  // Null if the arguments do not fit, or the operator is unknown.
  const std::vector<BoundArgument>* bind(const OpNode& node) {
    try {
      return binder ? &binder->bind(node) : nullptr;
    } catch (const std::exception&) {
      return nullptr;
    }
  }

  std::optional<int64_t> multiply_adds(const OpNode& node) {
    const std::vector<BoundArgument>* arguments = bind(node);
    try {
      if (arguments != nullptr) return formula(NodeCall(node, *schema, *arguments)).value();
    } catch (const std::exception&) {
    }
    return std::nullopt;
  }

  MultiplyAdds formula;
  const c10::FunctionSchema* schema;
  std::optional<OperatorBinder> binder;
};

using KnownOperators = std::unordered_map<std::string, KnownOperator>;

KnownOperator& find_known(const std::string& op_type, KnownOperators& operators) {
  return operators.try_emplace(op_type, op_type).first->second;
}

bool shares(const c10::Argument& argument, const c10::Argument& result) {
  const c10::AliasInfo* of_result = result.alias_info();
  const c10::AliasInfo* of_argument = argument.alias_info();
  if (of_result == nullptr || of_argument == nullptr) return false;
  return std::ranges::any_of(of_argument->beforeSets(), [&](const c10::Symbol& set) {
    return of_result->beforeSets().contains(set);
  });
}

// Whether the node returns its first argument although its schema does not say so.
bool returns_as_is(const OpNode& node) {
  const std::string_view condition = facts_of(node.op_type).passes_on_input;
  if (condition.empty() || condition == "always") return !condition.empty();
  const Attribute* attribute = node.attrs.find(condition);
  return attribute != nullptr && *attribute == Attribute(false);
}

// The input of `node` whose memory its output at `index` may share; empty if it has its own.
std::optional<size_t> shared_input(const OpNode& node, size_t index,
                                   const c10::FunctionSchema& schema,
                                   const std::vector<BoundArgument>& arguments) {
  const std::vector<c10::Argument>& results = schema.returns();
  if (results.empty()) return std::nullopt;
  // A list is the only result of its operator.
  const c10::Argument& result = results[std::min(index, results.size() - 1)];
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* tensor = std::get_if<TensorArgument>(&arguments[i]);
    if (tensor == nullptr || node.inputs[tensor->input].dtype != node.outputs[index].dtype)
      continue;
    if (shares(schema.arguments()[i], result) || (i == 0 && returns_as_is(node))) {
      return tensor->input;
    }
  }
  return std::nullopt;
}

constexpr size_t kNever = SIZE_MAX;

// The memory of an input, a weight, or a value that a node makes, with all its views.
struct Memory {
  std::string name = {};
  // For values of nodes, if known.
  int64_t bytes = 0;
  size_t made = kNever;
  size_t last = 0;
  // For weights: their place in IR::weights.
  size_t weight = kNever;
};

class GraphMemories {
 public:
  GraphMemories(const IRGraph& graph, const IR* ir, KnownOperators& operators) : graph_(graph) {
    for (const TensorMeta& input : graph.graph_inputs) add({.name = input.name}, input.name);
    if (ir != nullptr) add_weights(*ir);
    for (size_t i = 0; i < graph.nodes.size(); ++i) add_node(i, operators);
    for (const TensorMeta& output : graph.graph_outputs) use(output.name, graph.nodes.size());
  }

  const std::vector<Memory>& all() const { return memories_; }

  const Memory* find(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &memories_[found->second];
  }

 private:
  void add(Memory memory, const std::string& name) {
    places_.insert_or_assign(name, memories_.size());
    memories_.push_back(std::move(memory));
  }

  void add_weights(const IR& ir) {
    std::unordered_map<std::string_view, const TensorMeta*> weights;
    for (const TensorMeta& weight : ir.weights) weights.emplace(weight.name, &weight);
    std::unordered_map<std::string_view, size_t> by_name;
    for (const auto& item : ir.weight_name_mapping) {
      const auto weight = weights.find(item.value());
      if (weight == weights.end()) continue;
      // Two placeholders may share one weight.
      const auto [place, is_new] = by_name.try_emplace(weight->first, memories_.size());
      places_.insert_or_assign(item.key(), place->second);
      if (!is_new) continue;
      memories_.push_back({.name = weight->second->name,
                           .weight = static_cast<size_t>(weight->second - ir.weights.data())});
    }
  }

  void add_node(size_t index, KnownOperators& operators) {
    const OpNode& node = graph_.nodes[index];
    for (const TensorMeta& input : node.inputs) use(input.name, index);
    for (const auto& [name, value] : node.attrs) {
      for (const std::string& ref : value_refs(value)) use(ref, index);
    }
    KnownOperator& op = find_known(node.op_type, operators);
    const std::vector<BoundArgument>* arguments = op.bind(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorMeta& output = node.outputs[i];
      const auto shared =
          arguments == nullptr ? std::nullopt : shared_input(node, i, *op.schema, *arguments);
      const auto source = shared ? places_.find(node.inputs[*shared].name) : places_.end();
      if (source != places_.end()) {
        places_.insert_or_assign(output.name, source->second);
        continue;
      }
      add({.name = output.name,
           .bytes = bytes_of(output).value_or(0),
           .made = index,
           .last = index},
          output.name);
    }
  }

  void use(const std::string& name, size_t node) {
    const auto found = places_.find(name);
    if (found != places_.end()) memories_[found->second].last = node;
  }

  const IRGraph& graph_;
  std::vector<Memory> memories_;
  std::unordered_map<std::string, size_t> places_;
};

struct Peak {
  int64_t bytes = 0;
  size_t node = kNever;
};

Peak find_peak(const IRGraph& graph, const std::vector<Memory>& memories,
               const std::vector<int64_t>& inside) {
  std::vector<int64_t> begins(graph.nodes.size() + 1);
  std::vector<int64_t> ends(graph.nodes.size() + 1);
  for (const Memory& memory : memories) {
    if (memory.made == kNever) continue;
    begins[memory.made] += memory.bytes;
    ends[memory.last] += memory.bytes;
  }
  Peak peak;
  int64_t alive = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    alive += begins[i];
    if (alive + inside[i] > peak.bytes) peak = {alive + inside[i], i};
    alive -= ends[i];
  }
  return peak;
}

class Counter {
 public:
  explicit Counter(const IR& ir) : ir_(ir) {}

  GraphCost count() {
    for (const TensorMeta& input : ir_.graph_inputs) add_bytes(input, cost_.totals.input_bytes);
    for (const TensorMeta& weight : ir_.weights) add_bytes(weight, cost_.totals.weight_bytes);
    const Peak peak = count_graph(ir_, &ir_, &cost_.nodes);
    cost_.totals.peak_bytes = peak.bytes;
    if (peak.node != kNever) cost_.totals.peak_node = ir_.nodes[peak.node].name;
    std::ranges::stable_sort(cost_.operators, [](const OperatorCost& a, const OperatorCost& b) {
      return std::pair(a.multiply_adds, a.output_bytes) >
             std::pair(b.multiply_adds, b.output_bytes);
    });
    return std::move(cost_);
  }

 private:
  void add_bytes(const TensorMeta& meta, int64_t& sum) {
    const std::optional<int64_t> bytes = bytes_of(meta);
    if (bytes) sum += *bytes;
    if (!bytes) ++cost_.totals.num_unknown_sizes;
  }

  // For control flow, the maximum over its graphs.
  Peak count_graph(const IRGraph& graph, const IR* ir, std::vector<NodeCost>* nodes) {
    const GraphMemories memories(graph, ir, operators_);
    std::vector<int64_t> inside;
    inside.reserve(graph.nodes.size());
    for (const OpNode& node : graph.nodes) {
      int64_t most = 0;
      for (const IRGraph& inner : node.graphs) {
        most = std::max(most, count_graph(inner, nullptr, nullptr).bytes);
      }
      inside.push_back(most);
      NodeCost cost = count_node(node, memories);
      if (nodes == nullptr) continue;
      cost_.totals.multiply_adds += cost.multiply_adds.value_or(0);
      nodes->push_back(std::move(cost));
    }
    for (const Memory& memory : memories.all()) {
      if (memory.made == kNever || memory.bytes <= cost_.totals.largest_bytes) continue;
      cost_.totals.largest_bytes = memory.bytes;
      cost_.totals.largest_value = memory.name;
    }
    return find_peak(graph, memories.all(), inside);
  }

  NodeCost count_node(const OpNode& node, const GraphMemories& memories) {
    NodeCost cost{.multiply_adds = count_multiply_adds(node)};
    const auto [place, is_new] = rows_.try_emplace(node.op_type, cost_.operators.size());
    if (is_new) cost_.operators.push_back({.op_type = node.op_type});
    OperatorCost& row = cost_.operators[place->second];
    ++row.num_nodes;
    row.multiply_adds += cost.multiply_adds.value_or(0);
    for (const TensorMeta& output : node.outputs) {
      cost.output_bytes.push_back(bytes_of(output));
      row.output_bytes += cost.output_bytes.back().value_or(0);
      if (!cost.output_bytes.back()) ++cost_.totals.num_unknown_sizes;
    }
    std::unordered_set<const Memory*> counted_here;
    for (const TensorMeta& input : node.inputs) {
      const Memory* memory = memories.find(input.name);
      if (memory == nullptr || memory->weight == kNever || !counted_here.insert(memory).second)
        continue;
      cost.weights.push_back(memory->weight);
      if (!read_[place->second].insert(memory->weight).second) continue;
      row.parameters += num_elements_of(ir_.weights[memory->weight]);
    }
    return cost;
  }

  std::optional<int64_t> count_multiply_adds(const OpNode& node) {
    KnownOperator& op = find_known(node.op_type, operators_);
    if (op.formula == no_multiply_adds) return 0;
    if (!node.graphs.empty()) return count_control_flow(node);
    if (op.formula == nullptr) {
      return not_counted(node, "unknown operator");
    }
    if (const auto count = op.multiply_adds(node)) return count;
    const auto has_unknown_size = [](const TensorMeta& meta) {
      return std::ranges::find(meta.shape, kDynamicSize) != meta.shape.end();
    };
    const bool depends_on_run = std::ranges::any_of(node.inputs, has_unknown_size) ||
                                std::ranges::any_of(node.outputs, has_unknown_size);
    return not_counted(
        node, depends_on_run ? "sizes differ from run to run" : "no formula for these arguments");
  }

  // The operators inside are counted, but not in the total: the number of runs is unknown.
  std::optional<int64_t> count_control_flow(const OpNode& node) {
    return has_multiply_adds(node) ? not_counted(node, "the number of iterations depends on data")
                                   : std::optional<int64_t>(0);
  }

  bool has_multiply_adds(const OpNode& node) {
    return std::ranges::any_of(node.graphs, [&](const IRGraph& graph) {
      return std::ranges::any_of(graph.nodes, [&](const OpNode& inner) {
        return inner.graphs.empty()
                   ? find_known(inner.op_type, operators_).formula != no_multiply_adds
                   : has_multiply_adds(inner);
      });
    });
  }

  std::nullopt_t not_counted(const OpNode& node, const std::string& reason) {
    std::vector<NotCounted>& all = cost_.totals.not_counted;
    const auto known = std::ranges::find_if(all, [&](const NotCounted& one) {
      return one.op_type == node.op_type && one.reason == reason;
    });
    if (known != all.end()) {
      ++known->num_nodes;
    } else {
      all.push_back({.op_type = node.op_type, .num_nodes = 1, .reason = reason});
    }
    return std::nullopt;
  }

  const IR& ir_;
  KnownOperators operators_;
  GraphCost cost_;
  std::unordered_map<std::string, size_t> rows_;
  // The weights that the operator of each row reads.
  std::unordered_map<size_t, std::unordered_set<size_t>> read_;
};

// Many values share a few expressions, so `known` caches their values.
void set_sizes(IRGraph& graph, const SymbolValues& symbols,
               std::unordered_map<std::string, std::optional<int64_t>>& known) {
  const auto set = [&](std::vector<TensorMeta>& metas) {
    for (TensorMeta& meta : metas) {
      for (size_t i = 0; i < meta.symbolic_shape.size(); ++i) {
        const std::string& expression = meta.symbolic_shape[i];
        if (expression.empty()) continue;
        const auto [place, is_new] = known.try_emplace(expression);
        if (is_new) place->second = SymExpr::parse(expression).evaluate(symbols);
        meta.shape[i] = place->second.value_or(kDynamicSize);
      }
    }
  };
  set(graph.graph_inputs);
  set(graph.graph_outputs);
  for (OpNode& node : graph.nodes) {
    set(node.inputs);
    set(node.outputs);
    for (IRGraph& inner : node.graphs) set_sizes(inner, symbols, known);
  }
}

}  // namespace

GraphCost cost_of(const IR& ir) { return Counter(ir).count(); }

IR at_sizes(const IR& ir, const SymbolValues& sizes) {
  IR sized = ir;
  std::unordered_map<std::string, std::optional<int64_t>> known;
  set_sizes(sized, sizes, known);
  return sized;
}

std::string not_counted_text(const CostTotals& totals) {
  std::string text;
  for (const NotCounted& one : totals.not_counted) {
    text += fmt::format("{}{} ({}), {}", text.empty() ? "not counted: " : "; ", one.op_type,
                        counted(one.num_nodes, "node"), one.reason);
  }
  return text;
}

std::string bytes_text(int64_t bytes) {
  constexpr std::array<std::string_view, 7> kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  constexpr double kStep = 1000;
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  // 999.9 would be printed as 1e+03.
  for (; amount >= kStep - 0.5 && unit + 1 < kUnits.size(); ++unit) amount /= kStep;
  return fmt::format("{:.3g} {}", amount, kUnits[unit]);
}

}  // namespace torch_ir
