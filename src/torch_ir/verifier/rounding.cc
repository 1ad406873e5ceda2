#include "torch_ir/verifier/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/verifier/picked_indices.h"

namespace torch_ir {
namespace {

// The output of a node that rounds or picks indices; nothing for other nodes.
std::optional<ValueId> find_rounded_value(const Graph& graph, const Node& node) {
  if (const auto output = rounded_output(graph, node)) return node.outputs.at(*output);
  return picked_indices(graph, node);
}

ValueId add_input(Program& program, const std::string& name, const at::Tensor& tensor,
                  bool is_scalar = false) {
  const ValueId id = program.add_value({.shape = tensor.sizes().vec(),
                                        .dtype = tensor.scalar_type(),
                                        .is_scalar = is_scalar,
                                        .name = name});
  program.inputs.push_back({InputKind::kUserInput, id});
  return id;
}

}  // namespace

std::optional<size_t> rounded_output(const Graph& graph, const Node& node) {
  const std::vector<ValueId> inputs = node.inputs();
  if (inputs.empty() || node.outputs.empty()) return std::nullopt;
  const OperatorFacts& facts = facts_of(node.target);
  const c10::ScalarType from = graph[inputs[0]].dtype;
  // Integers are whole numbers already.
  if (!facts.rounded_output.empty() && !compares_exactly(from)) {
    const size_t output = facts.rounded_output == "0" ? 0 : 1;
    if (output < node.outputs.size()) return output;
  }
  const bool becomes_float8 =
      c10::isFloat8Type(graph[node.outputs[0]].dtype) && !c10::isFloat8Type(from);
  return facts.rounds_to_float8 && becomes_float8 ? std::optional<size_t>(0) : std::nullopt;
}

bool rounds_or_picks(const Graph& graph, const Node& node) {
  return find_rounded_value(graph, node).has_value();
}

bool rounds_or_picks(const Graph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [&](const Node& node) { return rounds_or_picks(graph, node); });
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

Program with_rounded_values(const Program& program) {
  Program extended = program;
  extended.constant_outputs.clear();
  for (const Node& node : program.nodes) {
    if (const auto value = find_rounded_value(program, node)) extended.outputs.push_back(*value);
  }
  return extended;
}

}  // namespace torch_ir
