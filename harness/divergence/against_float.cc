#include "harness/divergence/against_float.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "harness/results/baseline.h"
#include "harness/stages/stages.h"
#include "torch_ir/analysis/diff.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/python_operators/quantized.h"
#include "torch_ir/runtime/check_values.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

bool is_float(const Value& value) { return !value.is_scalar && c10::isFloatingType(value.dtype); }

// Whether two tensors can have one shape; dynamic sizes fit all.
bool shapes_fit(const Value& one, const Value& other) {
  return std::ranges::equal(one.shape, other.shape, [](int64_t size, int64_t other_size) {
    return size == other_size || size == kDynamicSize || other_size == kDynamicSize;
  });
}

// The node that makes the value, if it is one of this kind of quantisation (any if empty).
const Node* maker_of(const Program& graph, ValueId value, std::string_view quantization = {}) {
  const auto producer = graph[value].producer;
  if (!producer) return nullptr;
  const Node& node = graph.nodes[*producer];
  const bool fits = quantization.empty() || facts_of(node.target).quantization == quantization;
  return fits ? &node : nullptr;
}

ValueId before_quantizing(const Program& graph, ValueId value) {
  for (const char* quantization : {"dequantize", "quantize"}) {
    const Node* node = maker_of(graph, value, quantization);
    if (node != nullptr) value = node->inputs().front();
  }
  return value;
}

// Whether the value is an earlier one: a graph input, a view or the result of a dropout.
bool is_passed_on(const Program& graph, ValueId value) {
  const Node* node = maker_of(graph, value);
  if (node == nullptr || !facts_of(out_of_place(node->target)).passes_on_input.empty()) return true;
  const c10::FunctionSchema* schema = find_schema(node->target);
  return schema != nullptr && is_view(*schema);
}

// By value of the float graph: the value of the quantised graph that the partner of its first
// reader reads in the same place, dequantised if it is quantised; or else its node's partner's.
std::vector<std::optional<ValueId>> counterparts(const Program& floating,
                                                 const Program& quantized) {
  std::vector<std::optional<ValueId>> found(floating.values.size());
  const auto match = [&](const std::vector<ValueId>& values, const std::vector<ValueId>& others) {
    for (size_t i = 0; i < std::min(values.size(), others.size()); ++i) {
      const Value& value = floating[values[i]];
      const Value& other = quantized[others[i]];
      const bool fits = is_float(value) && is_float(other) && shapes_fit(value, other);
      if (fits && !found[values[i]]) found[values[i]] = others[i];
    }
  };
  const std::vector<std::optional<size_t>> partners = diff(floating, quantized).old_of_new;
  const auto match_values = [&](auto values_of) {
    for (size_t i = 0; i < partners.size(); ++i) {
      if (!partners[i]) continue;
      const Node& node = floating.nodes[*partners[i]];
      const Node& other = quantized.nodes[i];
      const bool is_same_call = out_of_place(node.target) == out_of_place(other.target);
      if (is_same_call) match(values_of(node), values_of(other));
    }
  };
  match_values([](const Node& node) { return node.inputs(); });
  match(floating.outputs, quantized.outputs);
  match_values([](const Node& node) { return node.outputs; });
  return found;
}

struct ValuePair {
  ValueId floating = 0;
  ValueId quantized = 0;
  // The node that dequantises it; null if none does.
  const Node* dequantize = nullptr;
  // As long as they are needed: the float value, and the one that is dequantised.
  at::Tensor float_value = {};
  at::Tensor integers = {};
  std::optional<ComparedValue> compared = std::nullopt;
};

// Leaves out integers, and values that are passed on without being quantised. A value is folded if
// the one that stands for it also stands for a later one, as a convolution's is its batch norm's.
std::vector<ValuePair> pair_values(const Program& floating, const Program& quantized,
                                   FloatComparison& result) {
  std::vector<ValueId> values = floating.user_inputs();
  std::ranges::copy(compared_values(floating), std::back_inserter(values));
  const std::vector<std::optional<ValueId>> partners = counterparts(floating, quantized);
  std::vector<ValuePair> pairs;
  std::set<ValueId> paired;
  for (const ValueId value : std::views::reverse(values)) {
    const std::optional<ValueId> partner = partners[value];
    const Node* dequantize = partner ? maker_of(quantized, *partner, "dequantize") : nullptr;
    const bool is_left_out = dequantize == nullptr && is_passed_on(floating, value);
    if (!is_float(floating[value]) || is_left_out) continue;
    if (!partner) {
      result.unmatched.push_back(floating[value].name);
    } else if (paired.insert(before_quantizing(quantized, *partner)).second) {
      pairs.push_back({.floating = value, .quantized = *partner, .dequantize = dequantize});
    } else {
      ++result.num_folded;
    }
  }
  std::ranges::reverse(pairs);
  std::ranges::reverse(result.unmatched);
  return pairs;
}

// Elements at the bounds of the quantised dtype, unless they stand for 0.
int64_t count_saturated(const Node& dequantize, const at::Tensor& integers,
                        const at::Tensor& dequantized) {
  const QuantizedRange all = quantized_range(integers.scalar_type());
  const auto bound = [&](const char* name, double otherwise) {
    const Attribute* attribute = dequantize.find_attribute(name);
    const auto* integer = attribute == nullptr ? nullptr : attribute->get_if<int64_t>();
    return integer == nullptr ? otherwise : static_cast<double>(*integer);
  };
  const at::Tensor numbers = integers.to(at::kDouble);
  const at::Tensor is_bound =
      numbers.le(bound("quant_min", all.low)).logical_or(numbers.ge(bound("quant_max", all.high)));
  return is_bound.logical_and(dequantized.ne(0)).sum().item<int64_t>();
}

// Nothing for values that turned out to have different sizes.
std::optional<ComparedValue> compared_value(const ValuePair& pair, const Program& floating,
                                            const std::string& name, const at::Tensor& value) {
  const TensorComparison comparison = compare_as_numbers(value, pair.float_value);
  if (!comparison.mismatch.empty()) return std::nullopt;
  ComparedValue result{.floating = statistics(floating[pair.floating].name, pair.float_value),
                       .quantized = statistics(name, value),
                       .sqnr = comparison.signal_to_noise};
  if (const Node* node = maker_of(floating, pair.floating)) {
    result.op_type = node->target;
    result.module = node->origin.module;
  }
  if (pair.integers.defined()) {
    result.num_saturated = count_saturated(*pair.dequantize, pair.integers, value);
  }
  return result;
}

// Carries the lowest SQNR through the values in between.
void set_input_sqnr(const Program& floating, std::vector<ValuePair>& pairs) {
  std::vector<ComparedValue*> compared(floating.values.size());
  std::vector<double> lowest(floating.values.size(), std::numeric_limits<double>::infinity());
  for (ValuePair& pair : pairs) {
    if (!pair.compared) continue;
    compared[pair.floating] = &*pair.compared;
    lowest[pair.floating] = pair.compared->sqnr;
  }
  for (const Node& node : floating.nodes) {
    double inputs = std::numeric_limits<double>::infinity();
    for (const ValueId input : node.inputs()) inputs = std::min(inputs, lowest[input]);
    for (const ValueId output : node.outputs) {
      (compared[output] == nullptr ? lowest[output] : compared[output]->input_sqnr) = inputs;
    }
  }
}

}  // namespace

FloatModel::FloatModel(const std::string& path, const RunSettings& settings)
    : files_(files_against(path)),
      settings_(settings),
      candidate_(make_candidate(files_, settings.seed)) {
  try {
    case_.program = std::make_shared<const Program>(resolve(candidate_->extract()));
    case_.weights = candidate_->weights();
  } catch (const std::exception& error) {
    throw InputError("--against: " + message_text(error));
  }
}

void FloatModel::check_inputs(const Program& quantized) const {
  const Program& floating = *case_.program;
  const std::vector<ValueId> inputs = quantized.user_inputs();
  const std::vector<ValueId> float_inputs = floating.user_inputs();
  const auto refuse = [&](const std::string& problem) {
    throw InputError(fmt::format("--against: {} {}; give the float model that it was made from",
                                 files_.short_name(), problem));
  };
  if (float_inputs.size() != inputs.size()) {
    refuse(
        fmt::format("has a different number of inputs than the quantised model, {} instead of {}",
                    float_inputs.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = floating[float_inputs[i]];
    const Value& other = quantized[inputs[i]];
    if (input.dtype == other.dtype && shapes_fit(input, other)) continue;
    refuse(fmt::format("has input '{}' as {}, but the quantised model has '{}' as {}", input.name,
                       dtype_and_shape(input), other.name, dtype_and_shape(other)));
  }
}

FloatComparison FloatModel::compare(Candidate& quantized, const Program& graph) {
  const Program& program = *case_.program;
  const std::vector<at::Tensor> inputs = quantized.inputs(0);
  FloatComparison result{.file = files_.short_name()};
  std::vector<ValuePair> pairs = pair_values(program, graph, result);
  std::unordered_map<std::string, ValuePair*> by_float;
  std::unordered_map<std::string, ValuePair*> by_quantized;
  std::unordered_map<std::string, ValuePair*> by_integers;
  for (ValuePair& pair : pairs) {
    by_float.emplace(program[pair.floating].name, &pair);
    by_quantized.emplace(graph[pair.quantized].name, &pair);
    if (pair.dequantize == nullptr) continue;
    by_integers.emplace(graph[pair.dequantize->inputs().front()].name, &pair);
  }
  try {
    const std::vector<std::string> problems = input_problems(program, inputs);
    if (!problems.empty()) throw LoadError("the inputs do not fit the float model: " + problems[0]);
    const GraphMemory memory = memory_of(case_);
    at::manual_seed(settings_.seed);
    candidate_->observe(inputs, [&](const std::string& name, const at::Tensor& value) {
      ValuePair* pair = by_float[name];
      if (pair == nullptr || !value.defined()) return;
      pair->float_value = memory.is_written(pair->floating) ? value.clone() : value;
    });
    at::manual_seed(settings_.seed);
    quantized.observe(inputs, [&](const std::string& name, const at::Tensor& value) {
      if (ValuePair* dequantized = by_integers[name]) dequantized->integers = value;
      ValuePair* pair = by_quantized[name];
      if (pair == nullptr || !value.defined() || !pair->float_value.defined()) return;
      pair->compared = compared_value(*pair, program, name, value);
      pair->float_value = pair->integers = at::Tensor();
    });
  } catch (const std::exception& error) {
    result.error = message_text(error);
  }
  set_input_sqnr(program, pairs);
  for (ValuePair& pair : pairs) {
    if (pair.compared) {
      result.values.push_back(std::move(*pair.compared));
    } else if (result.error.empty()) {
      result.unmatched.push_back(program[pair.floating].name);
    }
  }
  result.num_unmatched = std::ssize(result.unmatched);
  result.unmatched.resize(std::min(result.unmatched.size(), FloatComparison::kMaxUnmatched));
  return result;
}

}  // namespace torch_ir
