#include "torch_ir/verifier/rounding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/round.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/take.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/interpreter/node_run.h"

namespace torch_ir {
namespace {

// The dimension along which the node compares values; nothing if it compares all.
std::optional<int64_t> dim_of(const Node& node) {
  if (const Attribute* given = node.find_attribute("dim")) {
    const auto* dim = given->get_if<int64_t>();
    return dim == nullptr ? std::nullopt : std::optional(*dim);
  }
  const c10::FunctionSchema* schema = find_schema(node.target);
  const auto position = schema == nullptr ? std::nullopt : schema->argumentIndexWithName("dim");
  if (!position) return std::nullopt;
  const auto& missing = schema->arguments()[static_cast<size_t>(*position)].default_value();
  return missing && missing->isInt() ? std::optional(missing->toInt()) : std::nullopt;
}

// Indices along a dimension may lack it.
at::Tensor picked(const at::Tensor& values, std::optional<int64_t> dim, const at::Tensor& indices) {
  if (!dim) return at::take(values.contiguous(), indices);
  if (indices.dim() == values.dim()) return at::gather(values, *dim, indices);
  return at::gather(values, *dim, indices.unsqueeze(*dim)).squeeze(*dim);
}

const GraphInput* find_weight_input(const Graph& graph, ValueId id) {
  const auto found = std::ranges::find(graph.inputs, id, &GraphInput::value);
  const bool is_weight = found != graph.inputs.end() && found->kind != InputKind::kUserInput;
  return is_weight ? &*found : nullptr;
}

// The scale with which a value was dequantised: one, or one for each channel. Undefined if it was
// not, or if the scale depends on data.
at::Tensor scale_of(const Case& graph_case, ValueId id) {
  const Program& program = *graph_case.program;
  if (!program[id].producer) return {};
  const Node& node = program.nodes[*program[id].producer];
  if (facts_of(node.target).quantization != "dequantize") return {};
  for (const std::string_view name : {"scale", "scales"}) {
    const Argument* argument = node.find(name);
    if (argument == nullptr) continue;
    if (const auto* value = std::get_if<ValueId>(&argument->value)) {
      const GraphInput* input = find_weight_input(program, *value);
      const at::Tensor* scale = input == nullptr ? nullptr : find_weight(graph_case, *input);
      return scale == nullptr ? at::Tensor() : scale->to(c10::kDouble).flatten();
    }
    const auto* attribute = std::get_if<Attribute>(&argument->value);
    const auto* number = attribute == nullptr ? nullptr : attribute->get_if<double>();
    if (number != nullptr) return at::scalar_tensor(*number, c10::kDouble);
  }
  return {};
}

}  // namespace

std::optional<ValueId> rounded_value(const Graph& graph, const Node& node) {
  const std::vector<ValueId> inputs = node.inputs();
  if (inputs.empty() || node.outputs.empty()) return std::nullopt;
  const OperatorFacts& facts = facts_of(node.target);
  const c10::ScalarType from = graph[inputs[0]].dtype;
  // Integers are whole numbers already.
  if (!facts.rounded_output.empty() && !compares_exactly(from)) {
    const size_t output = facts.rounded_output == "0" ? 0 : 1;
    if (output < node.outputs.size()) return node.outputs[output];
  }
  const bool becomes_float8 =
      c10::isFloat8Type(graph[node.outputs[0]].dtype) && !c10::isFloat8Type(from);
  return facts.rounds_to_float8 && becomes_float8 ? std::optional(node.outputs[0]) : std::nullopt;
}

std::optional<ValueId> picked_indices(const Graph& graph, const Node& node) {
  const bool picks = facts_of(node.target).property == "picked_values";
  if (!picks || node.outputs.empty()) return std::nullopt;
  if (!c10::isFloatingType(graph[node.inputs().at(0)].dtype)) return std::nullopt;
  return node.outputs.back();
}

std::optional<ValueId> rounded_or_picked(const Graph& graph, const Node& node) {
  const std::optional<ValueId> rounded = rounded_value(graph, node);
  return rounded ? rounded : picked_indices(graph, node);
}

std::vector<ValueId> rounded_values(const Graph& graph) {
  std::vector<ValueId> values;
  for (const Node& node : graph.nodes) {
    if (const auto value = rounded_or_picked(graph, node)) values.push_back(*value);
  }
  return values;
}

Program with_outputs(const Program& program, const std::vector<ValueId>& values) {
  Program extended = program;
  extended.constant_outputs.clear();
  extended.outputs.insert(extended.outputs.end() - num_state(program), values.begin(),
                          values.end());
  for (Mutation& mutation : extended.mutations) {
    if (mutation.in_place) mutation.output += values.size();
  }
  return extended;
}

at::Tensor value_alone(const Program& program, const Node& node, ValueId output,
                       const std::vector<at::Tensor>& read, const at::Tensor& first) {
  Program alone;
  Case inputs{.inputs = read};
  inputs.inputs.front() = first;
  Node& copy = alone.nodes.emplace_back(node);
  for (Argument& argument : copy.arguments) {
    for_each_value(argument, [&](ValueId& use) {
      const at::Tensor& tensor = inputs.inputs.at(alone.inputs.size());
      use = alone.add_value({.shape = tensor.sizes().vec(),
                             .dtype = tensor.scalar_type(),
                             .is_scalar = program[use].is_scalar,
                             .name = fmt::format("input_{}", alone.inputs.size())});
      alone.inputs.push_back({InputKind::kUserInput, use});
    });
  }
  for (ValueId& made : copy.outputs) {
    const bool is_wanted = made == output;
    made = alone.add_value(program[made]);
    if (is_wanted) alone.outputs = {made};
  }
  set_uses(alone);
  return NodeRun(inputs.with(std::move(alone)), {.check = ResultCheck::kWarn}).outputs().at(0);
}

Verdict judge_indices(const Node& node, const at::Tensor& indices, const at::Tensor& eager,
                      const at::Tensor& values, double error, double unit) {
  const at::Tensor differs = indices.ne(eager);
  const auto num_other = differs.sum().item<int64_t>();
  if (num_other == 0) return {};
  const std::optional<int64_t> dim = dim_of(node);
  const int64_t size = dim && values.dim() > 0 ? values.size(*dim) : values.numel();
  const at::Tensor is_valid = indices.ge(0).logical_and(indices.lt(size));
  const at::Tensor own = picked(values, dim, indices.to(c10::kLong).clamp(0, size - 1));
  const at::Tensor other = picked(values, dim, eager);
  const at::Tensor reach = own.abs().add(other.abs()).mul(unit).add(2 * error);
  const at::Tensor is_close = own.eq(other).logical_or(own.sub(other).abs().le(reach));
  const at::Tensor is_wrong = differs.logical_and(is_close.logical_and(is_valid).logical_not());
  const auto num_wrong = is_wrong.sum().item<int64_t>();
  Verdict verdict{.steps = {.num_off_by_more = num_other},
                  .num_other_choices = num_other - num_wrong};
  if (num_wrong == 0) return verdict;
  const at::Tensor position = is_wrong.nonzero()[0];
  const auto* begin = position.const_data_ptr<int64_t>();
  const auto first_wrong = [&](const at::Tensor& tensor) {
    return tensor.masked_select(is_wrong)[0].item<double>();
  };
  std::string& problem = verdict.own.problem;
  problem = fmt::format("index {} at [{}], expected {}", first_wrong(indices),
                        fmt::join(begin, begin + position.numel(), ", "), first_wrong(eager));
  if (first_wrong(is_valid) == 0) return verdict;
  problem += fmt::format(": the values are {:.6g} and {:.6g}, and their error is {:.2g}",
                         first_wrong(own), first_wrong(other), first_wrong(reach) / 2);
  return verdict;
}

std::optional<Case> with_integer_biases(const Case& graph_case) {
  const Program& program = *graph_case.program;
  std::optional<Case> result;
  for (const Node& node : program.nodes) {
    const std::vector<ValueId> inputs = node.inputs();
    const std::string_view products = facts_of(node.target).multiply_adds;
    if (inputs.size() != 3 || products.empty() || products == "none") continue;
    at::Tensor step;
    const GraphInput* bias = nullptr;
    size_t num_scales = 0;
    for (const ValueId id : inputs) {
      const at::Tensor scale = scale_of(graph_case, id);
      if (!scale.defined()) {
        bias = find_weight_input(program, id);
        continue;
      }
      const bool are_steps = !step.defined() || step.numel() == 1 || scale.numel() == 1 ||
                             step.numel() == scale.numel();
      // Scales per channel of different lengths give no step for each element of the bias.
      if (!are_steps) continue;
      step = step.defined() ? step.mul(scale) : scale;
      ++num_scales;
    }
    // Another node may add the same bias to products of other steps.
    if (num_scales != 2 || bias == nullptr || program[bias->value].readers.size() != 1) continue;
    const at::Tensor* tensor = find_weight(graph_case, *bias);
    const bool fits = tensor != nullptr && tensor->is_floating_point() && tensor->dim() == 1 &&
                      (step.numel() == 1 || step.numel() == tensor->numel());
    if (!fits) continue;
    if (!result) result = graph_case;
    tensor_of(*result, bias->value) =
        at::round(tensor->to(c10::kDouble).div(step)).mul(step).to(tensor->scalar_type());
  }
  return result;
}

}  // namespace torch_ir
