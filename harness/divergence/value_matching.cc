#include "harness/divergence/value_matching.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

using NodeList = std::vector<size_t>;

bool is_quantization(const Node& node) { return !facts_of(node.target).quantization.empty(); }

// "aten.relu" of "aten.relu_.default".
std::string operator_name(const Node& node) {
  const std::string op_type = out_of_place(node.target);
  return op_type.substr(0, op_type.rfind('.'));
}

bool is_batch_norm(const Node& node) { return node.target.find("batch_norm") != std::string::npos; }

// Whether the node has the values of its input, as a view or a dropout has.
bool passes_values_on(const Node& node) {
  if (!facts_of(out_of_place(node.target)).passes_on_input.empty()) return true;
  const c10::FunctionSchema* schema = find_schema(node.target);
  return schema != nullptr && is_view(*schema);
}

bool is_float(const Value& value) { return !value.is_scalar && c10::isFloatingType(value.dtype); }

std::optional<double> number(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find_attribute(name);
  if (attribute == nullptr) return std::nullopt;
  if (const auto* integer = attribute->get_if<int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = attribute->get_if<double>()) return *real;
  return std::nullopt;
}

// A graph, indexed for matching.
struct Side {
  Side(const Program& graph, bool uses_modules) : program(graph) {
    std::string last;
    for (uint32_t i = 0; i < program.nodes.size(); ++i) {
      const Node& node = program.nodes[i];
      modules.push_back(uses_modules ? node.origin.module : "");
      if (is_quantization(node)) continue;
      const std::string& module = modules.back();
      operators[{module, operator_name(node)}].push_back(i);
      std::vector<NodeList>& of_module = calls[module];
      if (of_module.empty() || module != last) of_module.emplace_back();
      of_module.back().push_back(i);
      last = module;
    }
  }

  QuantizedRange range_of(const Node& node) const {
    const QuantizedRange all = quantized_range(program[node.outputs.at(0)].dtype);
    return {number(node, "quant_min").value_or(all.low),
            number(node, "quant_max").value_or(all.high)};
  }

  const Program& program;
  std::vector<std::string> modules;
  // The nodes of an operator in a module.
  std::map<std::pair<std::string, std::string>, NodeList> operators;
  // The nodes of each call of a module.
  std::map<std::string, std::vector<NodeList>> calls;
};

template <class Map>
typename Map::mapped_type get(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type() : found->second;
}

class Matcher {
 public:
  Matcher(const Side& quantized, const Side& floating)
      : quantized_(quantized), floating_(floating) {
    fold_batch_norms();
    match_operators();
    match_calls();
  }

  ValueMatching result() const {
    ValueMatching result{.num_folded = std::ssize(folded_)};
    const Program& program = floating_.program;
    const std::vector<ValueId> inputs = program.user_inputs();
    const std::vector<ValueId> quantized = quantized_.program.user_inputs();
    for (size_t i = 0; i < std::min(inputs.size(), quantized.size()); ++i) {
      ValueMatch match{.floating = program[inputs[i]].name};
      follow(quantized[i], match);
      if (is_float(program[inputs[i]]) && match.is_dequantized()) result.matches.push_back(match);
    }
    for (const ValueId value : compared_values(program)) add(value, result);
    return result;
  }

 private:
  void add(ValueId value, ValueMatching& result) const {
    const Program& program = floating_.program;
    const uint32_t producer = program[value].producer.value();
    const Node& node = program.nodes[producer];
    if (!is_float(program[value]) || is_quantization(node) || folded_.contains(value)) return;
    const auto partner = partners_.find(value);
    if (partner == partners_.end()) {
      if (!passes_values_on(node)) result.unmatched.push_back(program[value].name);
      return;
    }
    ValueMatch match{.floating = program[value].name,
                     .op_type = node.target,
                     .module = floating_.modules[producer]};
    follow(partner->second, match);
    if (!passes_values_on(node) || match.is_dequantized()) result.matches.push_back(match);
  }

  // Sets the value of the quantised graph, and its quantised form.
  void follow(ValueId value, ValueMatch& match) const {
    const Program& program = quantized_.program;
    match.quantized = match.dequantized = program[value].name;
    for (const uint32_t reader : program[value].readers) {
      const Node& node = program.nodes[reader];
      if (facts_of(node.target).quantization != "quantize" || node.inputs().front() != value) {
        continue;
      }
      const ValueId quantized = node.outputs.at(0);
      match.quantized_to = program[quantized].name;
      match.range = quantized_.range_of(node);
      for (const uint32_t next : program[quantized].readers) {
        if (facts_of(program.nodes[next].target).quantization != "dequantize") continue;
        match.dequantized = program[program.nodes[next].outputs.at(0)].name;
      }
      return;
    }
  }

  void fold_batch_norms() {
    const Program& program = floating_.program;
    for (const auto& [key, nodes] : floating_.operators) {
      if (quantized_.operators.contains(key)) continue;
      for (const size_t index : nodes) {
        const Node& node = program.nodes[index];
        if (!is_batch_norm(node)) continue;
        const ValueId input = node.inputs().front();
        const bool is_inner = program[input].producer && program[input].readers.size() == 1;
        if (is_inner) folded_.emplace(input, node.outputs.front());
      }
    }
  }

  void match_operators() {
    for (const auto& [key, nodes] : floating_.operators) {
      const NodeList others = get(quantized_.operators, key);
      if (nodes.size() != others.size()) continue;
      for (size_t i = 0; i < nodes.size(); ++i) {
        const auto& outputs = floating_.program.nodes[nodes[i]].outputs;
        const auto& other_outputs = quantized_.program.nodes[others[i]].outputs;
        for (size_t k = 0; k < std::min(outputs.size(), other_outputs.size()); ++k) {
          pair(outputs[k], other_outputs[k]);
        }
      }
    }
  }

  void match_calls() {
    for (const auto& [module, calls] : floating_.calls) {
      const std::vector<NodeList> others = get(quantized_.calls, module);
      // Nodes of the model itself lie between its modules and form no call.
      if (module.empty() || calls.size() != others.size()) continue;
      for (size_t i = 0; i < calls.size(); ++i) match_last(calls[i], others[i]);
    }
  }

  void match_last(const NodeList& call, const NodeList& other_call) {
    const Program& program = floating_.program;
    for (const size_t index : std::views::reverse(call)) {
      const Node& node = program.nodes[index];
      if (passes_values_on(node) || node.outputs.empty() ||
          !is_float(program[node.outputs.front()])) {
        continue;
      }
      for (const size_t other : std::views::reverse(other_call)) {
        const std::vector<ValueId>& outputs = quantized_.program.nodes[other].outputs;
        if (!outputs.empty() && pair(node.outputs.front(), outputs.front())) return;
      }
      return;
    }
  }

  // Returns whether `floating` has a match.
  bool pair(ValueId floating, ValueId quantized) {
    const auto folded = folded_.find(floating);
    const ValueId id = folded == folded_.end() ? floating : folded->second;
    if (partners_.contains(id)) return true;
    const Value& value = floating_.program[id];
    const Value& other = quantized_.program[quantized];
    if (!is_float(value) || !is_float(other) || !shapes_fit(value, other)) return false;
    if (!matched_.insert(quantized).second) return false;
    partners_.emplace(id, quantized);
    return true;
  }

  const Side& quantized_;
  const Side& floating_;
  // Values of the float graph, each with the result of the batch norm that is matched instead.
  std::map<ValueId, ValueId> folded_;
  // Values of the float graph, and those of the quantised one that they match.
  std::unordered_map<ValueId, ValueId> partners_;
  std::set<ValueId> matched_;
};

bool has_modules(const Graph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [](const Node& node) { return !node.origin.module.empty(); });
}

}  // namespace

ValueMatching match_values(const Program& quantized, const Program& floating) {
  const bool uses_modules = has_modules(quantized) && has_modules(floating);
  const Side quantized_side(quantized, uses_modules);
  const Side floating_side(floating, uses_modules);
  return Matcher(quantized_side, floating_side).result();
}

bool shapes_fit(const Value& one, const Value& other) {
  return std::ranges::equal(one.shape, other.shape, [](int64_t size, int64_t other_size) {
    return size == other_size || size == kDynamicSize || other_size == kDynamicSize;
  });
}

}  // namespace torch_ir
