#include "torch_ir/verifier/integer_biases.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/round.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

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
    const at::Tensor rounded =
        at::round(tensor->to(c10::kDouble).div(step)).mul(step).to(tensor->scalar_type());
    if (!result->weights.contains(bias->target)) {
      result->weights.insert(bias->target, rounded);
    } else {
      result->weights[bias->target] = rounded;
    }
  }
  return result;
}

}  // namespace torch_ir
