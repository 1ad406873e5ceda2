#include "harness/divergence/value_matching.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

using NodeList = std::vector<size_t>;

bool is_quantization(const OpNode& node) { return !facts_of(node.op_type).quantization.empty(); }

// "aten.relu" of "aten.relu_.default".
std::string operator_name(const OpNode& node) {
  const std::string op_type = out_of_place(node.op_type);
  return op_type.substr(0, op_type.rfind('.'));
}

bool is_batch_norm(const OpNode& node) {
  return node.op_type.find("batch_norm") != std::string::npos;
}

// Whether the node has the values of its input, as a view or a dropout has.
bool passes_values_on(const OpNode& node) {
  if (!facts_of(out_of_place(node.op_type)).passes_on_input.empty()) return true;
  const c10::FunctionSchema* schema = find_schema(node.op_type);
  return schema != nullptr && is_view(*schema);
}

bool is_float(const TensorMeta& meta) {
  return !meta.is_scalar && c10::isFloatingType(parse_dtype(meta.dtype));
}

std::optional<double> number(const OpNode& node, std::string_view name) {
  const Attribute* attribute = node.attrs.find(name);
  if (attribute == nullptr) return std::nullopt;
  if (const auto* integer = attribute->get_if<int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = attribute->get_if<double>()) return *real;
  return std::nullopt;
}

QuantizedRange range_of(const OpNode& node) {
  const QuantizedRange all = quantized_range(parse_dtype(node.outputs.at(0).dtype));
  return {number(node, "quant_min").value_or(all.low),
          number(node, "quant_max").value_or(all.high)};
}

// A graph, indexed for matching.
struct Side {
  Side(const IR& graph, bool uses_modules) : ir(graph) {
    std::string last;
    for (size_t i = 0; i < ir.nodes.size(); ++i) {
      const OpNode& node = ir.nodes[i];
      for (const TensorMeta& input : node.inputs) readers[input.name].push_back(i);
      for (const TensorMeta& output : node.outputs) producers.emplace(output.name, i);
      modules.push_back(uses_modules ? node.module : "");
      if (is_quantization(node)) continue;
      const std::string& module = modules.back();
      operators[{module, operator_name(node)}].push_back(i);
      std::vector<NodeList>& of_module = calls[module];
      if (of_module.empty() || module != last) of_module.emplace_back();
      of_module.back().push_back(i);
      last = module;
    }
  }

  const IR& ir;
  std::vector<std::string> modules;
  std::unordered_map<std::string, NodeList> readers;
  std::unordered_map<std::string, size_t> producers;
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
    const auto& inputs = floating_.ir.graph_inputs;
    for (size_t i = 0; i < inputs.size() && i < quantized_.ir.graph_inputs.size(); ++i) {
      ValueMatch match{.floating = inputs[i].name, .quantized = quantized_.ir.graph_inputs[i].name};
      follow(match);
      if (is_float(inputs[i]) && match.is_dequantized()) result.matches.push_back(match);
    }
    for (const std::string& name : compared_values(floating_.ir)) add(name, result);
    return result;
  }

 private:
  void add(const std::string& name, ValueMatching& result) const {
    const size_t producer = floating_.producers.at(name);
    const OpNode& node = floating_.ir.nodes[producer];
    const auto meta = std::ranges::find(node.outputs, name, &TensorMeta::name);
    if (!is_float(*meta) || is_quantization(node) || folded_.contains(name)) return;
    const auto partner = partners_.find(name);
    if (partner == partners_.end()) {
      if (!passes_values_on(node)) result.unmatched.push_back(name);
      return;
    }
    ValueMatch match{.floating = name,
                     .op_type = node.op_type,
                     .module = floating_.modules[producer],
                     .quantized = partner->second};
    follow(match);
    if (!passes_values_on(node) || match.is_dequantized()) result.matches.push_back(match);
  }

  // Sets the quantised form of `match.quantized`.
  void follow(ValueMatch& match) const {
    const std::vector<OpNode>& nodes = quantized_.ir.nodes;
    match.dequantized = match.quantized;
    for (const size_t reader : get(quantized_.readers, match.quantized)) {
      if (facts_of(nodes[reader].op_type).quantization != "quantize") continue;
      if (nodes[reader].inputs.front().name != match.quantized) continue;
      match.quantized_to = nodes[reader].outputs.at(0).name;
      match.range = range_of(nodes[reader]);
      for (const size_t next : get(quantized_.readers, match.quantized_to)) {
        if (facts_of(nodes[next].op_type).quantization != "dequantize") continue;
        match.dequantized = nodes[next].outputs.at(0).name;
      }
      return;
    }
  }

  void fold_batch_norms() {
    for (const auto& [key, nodes] : floating_.operators) {
      if (quantized_.operators.contains(key)) continue;
      for (const size_t index : nodes) {
        const OpNode& node = floating_.ir.nodes[index];
        if (!is_batch_norm(node)) continue;
        const std::string& input = node.inputs.front().name;
        const bool is_inner =
            floating_.producers.contains(input) && get(floating_.readers, input).size() == 1;
        if (is_inner) folded_.emplace(input, node.outputs.front());
      }
    }
  }

  void match_operators() {
    for (const auto& [key, nodes] : floating_.operators) {
      const NodeList others = get(quantized_.operators, key);
      if (nodes.size() != others.size()) continue;
      for (size_t i = 0; i < nodes.size(); ++i) {
        const auto& outputs = floating_.ir.nodes[nodes[i]].outputs;
        const auto& other_outputs = quantized_.ir.nodes[others[i]].outputs;
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
    for (const size_t index : std::views::reverse(call)) {
      const OpNode& node = floating_.ir.nodes[index];
      if (passes_values_on(node) || node.outputs.empty() || !is_float(node.outputs.front()))
        continue;
      for (const size_t other : std::views::reverse(other_call)) {
        const std::vector<TensorMeta>& outputs = quantized_.ir.nodes[other].outputs;
        if (!outputs.empty() && pair(node.outputs.front(), outputs.front())) return;
      }
      return;
    }
  }

  // Returns whether `floating` has a match.
  bool pair(const TensorMeta& floating, const TensorMeta& quantized) {
    const auto folded = folded_.find(floating.name);
    const TensorMeta& value = folded == folded_.end() ? floating : folded->second;
    if (partners_.contains(value.name)) return true;
    if (!is_float(value) || !is_float(quantized) || !shapes_fit(value, quantized)) return false;
    if (!taken_.insert(quantized.name).second) return false;
    partners_.emplace(value.name, quantized.name);
    return true;
  }

  const Side& quantized_;
  const Side& floating_;
  // Matched by the previous value: the result of the batch norm.
  std::map<std::string, TensorMeta> folded_;
  std::unordered_map<std::string, std::string> partners_;
  std::set<std::string> taken_;
};

bool has_modules(const IR& graph) {
  return std::ranges::any_of(graph.nodes, [](const OpNode& node) { return !node.module.empty(); });
}

}  // namespace

ValueMatching match_values(const IR& quantized, const IR& floating) {
  const bool uses_modules = has_modules(quantized) && has_modules(floating);
  const Side quantized_side(quantized, uses_modules);
  const Side floating_side(floating, uses_modules);
  return Matcher(quantized_side, floating_side).result();
}

bool shapes_fit(const TensorMeta& one, const TensorMeta& other) {
  return std::ranges::equal(one.shape, other.shape, [](int64_t size, int64_t other_size) {
    return size == other_size || size == kDynamicSize || other_size == kDynamicSize;
  });
}

}  // namespace torch_ir
