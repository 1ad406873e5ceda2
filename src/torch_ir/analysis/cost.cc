#include "torch_ir/analysis/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/analysis/multiply_adds.h"
#include "torch_ir/analysis/weights.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

std::optional<int64_t> bytes_of(const Value& value) {
  if (value.is_scalar) return 0;
  return (count_elements(value) * static_cast<int64_t>(c10::elementSize(value.dtype))).value();
}

struct KnownOperator {
  explicit KnownOperator(const std::string& target)
      : formula(find_formula(target)), schema(find_schema(target)) {}

  MultiplyAdds formula;
  // Null for an unknown operator.
  const c10::FunctionSchema* schema;
};

using KnownOperators = std::unordered_map<std::string, KnownOperator>;

const KnownOperator& find_known(const std::string& target, KnownOperators& operators) {
  return operators.try_emplace(target, target).first->second;
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
bool returns_as_is(const Node& node) {
  const std::string_view condition = facts_of(node.target).passes_on_input;
  if (condition.empty() || condition == "always") return !condition.empty();
  const Attribute* attribute = node.find_attribute(condition);
  return attribute != nullptr && *attribute == Attribute(false);
}

// The input of `node` whose memory its output at `index` may share; empty if it has its own.
std::optional<ValueId> shared_input(const Graph& graph, const Node& node, size_t index,
                                    const c10::FunctionSchema& schema) {
  const std::vector<c10::Argument>& results = schema.returns();
  if (results.empty()) return std::nullopt;
  // A list is the only result of its operator.
  const c10::Argument& result = results[std::min(index, results.size() - 1)];
  for (const Argument& argument : node.arguments) {
    const auto* input = std::get_if<ValueId>(&argument.value);
    const auto place = schema.argumentIndexWithName(argument.name);
    if (input == nullptr || !place) continue;
    if (graph[*input].dtype != graph[node.outputs[index]].dtype) continue;
    const bool may_share = shares(schema.arguments()[static_cast<size_t>(*place)], result);
    if (may_share || (*place == 0 && returns_as_is(node))) return *input;
  }
  return std::nullopt;
}

// For each value, the input, the weight or the value of a node whose memory it is a view of: itself
// if it has its own.
using Memories = std::vector<ValueId>;

Memories find_memories(const Graph& graph, KnownOperators& operators) {
  Memories memories(graph.values.size());
  std::iota(memories.begin(), memories.end(), ValueId{0});
  for_each_placeholder(
      graph, [&](const GraphInput& input, ValueId first) { memories[input.value] = first; });
  for (const Node& node : graph.nodes) {
    const c10::FunctionSchema* schema = find_known(node.target, operators).schema;
    for (size_t i = 0; i < node.outputs.size() && schema != nullptr; ++i) {
      const auto shared = shared_input(graph, node, i, *schema);
      if (shared) memories[node.outputs[i]] = memories[*shared];
    }
  }
  return memories;
}

class Counter {
 public:
  explicit Counter(const Program& program) : program_(program) {}

  GraphCost count() {
    for (const ValueId input : program_.user_inputs()) {
      add_bytes(program_[input], cost_.totals.input_bytes);
    }
    for_each_weight(program_, [&](const GraphInput& weight) {
      weights_.insert(weight.value);
      add_bytes(program_[weight.value], cost_.totals.weight_bytes);
    });
    const Peak peak = count_graph(program_);
    cost_.totals.peak_bytes = peak.bytes;
    cost_.totals.peak_node = peak.node;
    std::ranges::stable_sort(cost_.operators, std::ranges::greater(), [](const OperatorCost& row) {
      return std::pair(row.multiply_adds, row.output_bytes);
    });
    return std::move(cost_);
  }

 private:
  struct Peak {
    int64_t bytes = 0;
    // Empty if the graph has no values.
    std::string_view node = {};
  };

  void add_bytes(const Value& value, int64_t& sum) {
    const std::optional<int64_t> bytes = bytes_of(value);
    if (bytes) sum += *bytes;
    if (!bytes) ++cost_.totals.num_unknown_sizes;
  }

  // For control flow, the maximum over its graphs.
  Peak count_graph(const Graph& graph) {
    const Memories memories = find_memories(graph, operators_);
    std::vector<int64_t> inside;
    inside.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes) {
      int64_t most = 0;
      for (const Graph& inner : node.graphs) most = std::max(most, count_graph(inner).bytes);
      inside.push_back(most);
      NodeCost cost = count_node(graph, node, memories);
      if (&graph != &program_) continue;
      cost_.totals.multiply_adds += cost.multiply_adds.value_or(0);
      cost_.nodes.push_back(std::move(cost));
    }
    return find_peak(graph, memories, inside);
  }

  // Also finds the largest value.
  Peak find_peak(const Graph& graph, const Memories& memories, const std::vector<int64_t>& inside) {
    // For each memory, the last node that makes or reads it; for outputs, the end.
    std::vector<size_t> last(graph.values.size());
    for (ValueId id = 0; id < graph.values.size(); ++id) {
      const Value& value = graph[id];
      const size_t used = value.readers.empty() ? value.producer.value_or(0) : value.readers.back();
      last[memories[id]] = std::max(last[memories[id]], used);
    }
    for (const ValueId output : graph.outputs) last[memories[output]] = graph.nodes.size();
    CostTotals& totals = cost_.totals;
    std::vector<int64_t> ends(graph.nodes.size() + 1);
    Peak peak;
    int64_t alive = 0;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const ValueId output : graph.nodes[i].outputs) {
        if (memories[output] != output) continue;
        const int64_t bytes = bytes_of(graph[output]).value_or(0);
        alive += bytes;
        ends[last[output]] += bytes;
        if (bytes <= totals.largest_bytes) continue;
        totals.largest_bytes = bytes;
        totals.largest_value = graph[output].name;
      }
      if (alive + inside[i] > peak.bytes) peak = {alive + inside[i], graph.nodes[i].name};
      alive -= ends[i];
    }
    return peak;
  }

  NodeCost count_node(const Graph& graph, const Node& node, const Memories& memories) {
    NodeCost cost{.multiply_adds = count_multiply_adds(graph, node)};
    const auto [place, is_new] = rows_.try_emplace(node.target, cost_.operators.size());
    if (is_new) cost_.operators.push_back({.op_type = node.target});
    OperatorCost& row = cost_.operators[place->second];
    ++row.num_nodes;
    row.multiply_adds += cost.multiply_adds.value_or(0);
    row.is_counted = row.is_counted && cost.multiply_adds;
    for (const ValueId output : node.outputs) {
      cost.output_bytes.push_back(bytes_of(graph[output]));
      row.output_bytes += cost.output_bytes.back().value_or(0);
      if (!cost.output_bytes.back()) ++cost_.totals.num_unknown_sizes;
    }
    // Only the outermost graph has weights.
    for (const ValueId input : node.inputs()) {
      const ValueId memory = memories[input];
      if (&graph != &program_ || !weights_.contains(memory)) continue;
      if (std::ranges::find(cost.weights, memory) != cost.weights.end()) continue;
      cost.weights.push_back(memory);
      if (!read_[place->second].insert(memory).second) continue;
      row.parameters += count_elements(graph[memory]).value().value_or(0);
    }
    return cost;
  }

  std::optional<int64_t> count_multiply_adds(const Graph& graph, const Node& node) {
    const MultiplyAdds formula = find_known(node.target, operators_).formula;
    if (formula == no_multiply_adds) return 0;
    if (!node.graphs.empty()) {
      // The operators inside are counted, but not in the total: the number of runs is unknown.
      if (!has_multiply_adds(node)) return 0;
      return not_counted(node, "the number of iterations depends on data");
    }
    if (formula == nullptr) return not_counted(node, "unknown operator");
    try {
      if (const auto count = formula({graph, node}).value()) return count;
    } catch (const std::exception&) {
      // An argument is missing, or another one than in the formula.
    }
    const auto has_unknown_size = [&](ValueId id) {
      return std::ranges::find(graph[id].shape, kDynamicSize) != graph[id].shape.end();
    };
    const bool depends_on_run = std::ranges::any_of(node.inputs(), has_unknown_size) ||
                                std::ranges::any_of(node.outputs, has_unknown_size);
    return not_counted(
        node, depends_on_run ? "sizes differ from run to run" : "no formula for these arguments");
  }

  bool has_multiply_adds(const Node& node) {
    return std::ranges::any_of(node.graphs, [&](const Graph& graph) {
      return std::ranges::any_of(graph.nodes, [&](const Node& inner) {
        return inner.graphs.empty()
                   ? find_known(inner.target, operators_).formula != no_multiply_adds
                   : has_multiply_adds(inner);
      });
    });
  }

  std::nullopt_t not_counted(const Node& node, const std::string& reason) {
    std::vector<NotCounted>& all = cost_.totals.not_counted;
    const auto known = std::ranges::find_if(all, [&](const NotCounted& one) {
      return one.op_type == node.target && one.reason == reason;
    });
    if (known != all.end()) {
      ++known->num_nodes;
    } else {
      all.push_back({.op_type = node.target, .num_nodes = 1, .reason = reason});
    }
    return std::nullopt;
  }

  const Program& program_;
  // Their first placeholders.
  std::unordered_set<ValueId> weights_;
  KnownOperators operators_;
  GraphCost cost_;
  std::unordered_map<std::string, size_t> rows_;
  // The weights that the operator of each row reads.
  std::unordered_map<size_t, std::unordered_set<ValueId>> read_;
};

// Many values share a few expressions, so `known` caches their values.
void set_sizes(Graph& graph, const SymbolValues& symbols,
               std::unordered_map<std::string, std::optional<int64_t>>& known) {
  for (Value& value : graph.values) {
    for (size_t i = 0; i < value.symbolic_shape.size(); ++i) {
      const std::string& expression = value.symbolic_shape[i];
      if (expression.empty()) continue;
      const auto [place, is_new] = known.try_emplace(expression);
      if (is_new) place->second = SymExpr::parse(expression).evaluate(symbols);
      value.shape[i] = place->second.value_or(kDynamicSize);
    }
  }
  for (Node& node : graph.nodes) {
    for (Graph& inner : node.graphs) set_sizes(inner, symbols, known);
  }
}

}  // namespace

GraphCost cost_of(const Program& program) { return Counter(program).count(); }

Program at_sizes(Program program, const SymbolValues& sizes) {
  std::unordered_map<std::string, std::optional<int64_t>> known;
  set_sizes(program, sizes, known);
  return program;
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
