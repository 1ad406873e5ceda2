#include "torch_ir/verifier/rounding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/take.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/interpreter/node_run.h"

namespace torch_ir {
namespace {

ValueId add_input(Program& program, const std::string& name, const at::Tensor& tensor,
                  bool is_scalar = false) {
  const ValueId id = program.add_value({.shape = tensor.sizes().vec(),
                                        .dtype = tensor.scalar_type(),
                                        .is_scalar = is_scalar,
                                        .name = name});
  program.inputs.push_back({InputKind::kUserInput, id});
  return id;
}

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

bool rounds_or_picks(const Graph& graph, const Node& node) {
  return rounded_value(graph, node) || picked_indices(graph, node);
}

bool rounds_or_picks(const Graph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [&](const Node& node) { return rounds_or_picks(graph, node); });
}

std::vector<ValueId> rounded_values(const Graph& graph) {
  std::vector<ValueId> values;
  for (const Node& node : graph.nodes) {
    const auto rounded = rounded_value(graph, node);
    const auto value = rounded ? rounded : picked_indices(graph, node);
    if (value) values.push_back(*value);
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
  Case inputs;
  Node& copy = alone.nodes.emplace_back(node);
  for (Argument& argument : copy.arguments) {
    for_each_value(argument, [&](ValueId& use) {
      const size_t i = inputs.inputs.size();
      inputs.inputs.push_back(i == 0 ? first : read.at(i));
      use = add_input(alone, fmt::format("input_{}", i), inputs.inputs.back(),
                      program[use].is_scalar);
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

}  // namespace torch_ir
