#include "torch_ir/verifier/rounding.h"

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/verifier/own_error.h"
#include "torch_ir/verifier/picked_indices.h"
#include "torch_ir/verifier/verify.h"

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

// Judges a run whole: the values that it rounded, and the outputs that it made of them.
class RoundedRun {
 public:
  // `outputs` are those of with_rounded_values.
  RoundedRun(const GraphRun& run, const std::vector<at::Tensor>& outputs, double error_factor)
      : run_(run),
        program_(*run.graph_case.program),
        outputs_(outputs),
        own_(run.graph_case, {.error_factor = error_factor}) {
    size_t next = program_.outputs.size();
    for (const Node& node : program_.nodes) {
      const auto value = find_rounded_value(program_, node);
      if (!value) continue;
      if (next == outputs.size() || !outputs[next].defined()) {
        throw Error("the run returned no '" + printable(program_[*value].name) + "'");
      }
      rounded_.emplace(*value, outputs[next++]);
    }
  }

  RoundingReport judge(const ToleranceRule& tolerance) {
    for (size_t i = 0; i < program_.nodes.size() && report_.problem.empty(); ++i) {
      for (const ValueId id : program_.nodes[i].outputs) {
        if (const auto rounded = rounded_.find(id); rounded != rounded_.end()) {
          judge_rounded(i, id, rounded->second);
        }
        for (size_t output = 0; output < program_.outputs.size(); ++output) {
          if (program_.outputs[output] == id) judge_output(output, tolerance);
        }
      }
    }
    for (size_t output = 0; output < program_.outputs.size(); ++output) {
      if (!program_[program_.outputs[output]].producer) compare_output(output, tolerance);
    }
    return std::move(report_);
  }

 private:
  // An input, a weight, or what nodes wrote to one.
  void compare_output(size_t output, const ToleranceRule& rule) {
    const std::vector<at::Tensor>& expected = run_.graph_case.expected;
    const bool is_known = output < expected.size() && expected[output].defined();
    if (!is_known || !report_.problem.empty()) return;
    const TensorComparison comparison =
        compare_tensors(run_.outputs.at(output), expected[output],
                        tolerance_for(rule, output, expected[output].scalar_type()));
    if (!comparison.is_close) fail(output, "it is not within the tolerance");
  }

  void judge_rounded(size_t index, ValueId id, const at::Tensor& returned) {
    const Node& node = program_.nodes[index];
    const std::string& name = program_[id].name;
    const OwnError error = own_.judge(name, returned);
    if (!error.not_judged.empty()) throw Error(error.not_judged);
    const StepCounts& steps = error.steps;
    RoundedValue value{.index = static_cast<int64_t>(index),
                       .node = node.name,
                       .op_type = node.target,
                       .value = name,
                       .num_elements = returned.numel(),
                       .num_off_by_one = steps.num_off_by_one,
                       .num_off_by_more = steps.num_off_by_more,
                       .num_wrong = steps.num_wrong};
    if (!error.is_right()) {
      report_.problem = fmt::format("'{}' ({}): {}", printable(node.name), printable(node.target),
                                    error.verdict.problem);
    }
    if (steps.num_off_by_one + steps.num_off_by_more > 0) report_.values.push_back(value);
  }

  void judge_output(size_t output, const ToleranceRule& rule) {
    const at::Tensor& returned = outputs_[output];
    if (!returned.defined() || !report_.problem.empty()) return;
    const Tolerance tolerance = tolerance_for(rule, output, returned.scalar_type());
    const std::string& name = program_[program_.outputs[output]].name;
    if (!rounded_.contains(program_.outputs[output])) {
      const OwnError error = own_.judge(name, returned, tolerance);
      if (!error.is_right()) fail(output, error.not_judged + error.verdict.problem);
    }
    const at::Tensor& first = run_.outputs.at(output);
    if (!compare_tensors(first, returned, tolerance).is_close) explain(output, first, returned);
  }

  // The run whose rounded values were asked for is another one than the first: it may have fused
  // other nodes, and decided near ties otherwise.
  void explain(size_t output, const at::Tensor& first, const at::Tensor& returned) {
    if (!ties_) ties_.emplace(run_.graph_case, ArithmeticOptions{});
    const auto effect = ties_->effect_of_ties(program_[program_.outputs[output]].name);
    std::string problem = "there is no near tie that explains it";
    if (effect && first.sizes() == returned.sizes()) {
      const at::Tensor eager = effect->eager.to(c10::kDouble);
      const at::Tensor moved = eager.add(first.to(c10::kDouble)).sub(returned.to(c10::kDouble));
      problem = judge_accumulated(compare_errors(moved, effect->flipped, eager),
                                  2 * rounding_unit(first.scalar_type()), kDefaultErrorFactor)
                    .problem;
    }
    if (!problem.empty()) {
      fail(output, "it differs from that of the run without rounded values, and " + problem);
    }
  }

  void fail(size_t output, const std::string& problem) {
    report_.problem = fmt::format("of the run with rounded values, output {} '{}': {}", output,
                                  printable(program_[program_.outputs[output]].name), problem);
  }

  const GraphRun& run_;
  const Program& program_;
  const std::vector<at::Tensor>& outputs_;
  OwnErrors own_;
  std::optional<OwnErrors> ties_;
  std::map<ValueId, at::Tensor> rounded_;
  RoundingReport report_;
};

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

bool rounds(const Graph& graph, const Node& node) {
  return rounded_output(graph, node).has_value();
}

bool rounds(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) { return rounds(graph, node); });
}

bool rounds_or_picks(const Graph& graph, const Node& node) {
  return find_rounded_value(graph, node).has_value();
}

bool rounds_or_picks(const Graph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [&](const Node& node) { return rounds_or_picks(graph, node); });
}

std::string rounded_text(const RoundedValue& value) {
  if (picks_indices(value.op_type)) {
    return fmt::format("'{}' ({}): {} of {} indices chose between values closer than the error",
                       printable(value.node), printable(value.op_type),
                       value.num_off_by_more - value.num_wrong, value.num_elements);
  }
  return fmt::format("'{}' ({}): {} of {} elements are off by one step, {} by more",
                     printable(value.node), printable(value.op_type), value.num_off_by_one,
                     value.num_elements, value.num_off_by_more);
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
  return eager_outputs(inputs.with(std::move(alone))).at(0);
}

Program with_rounded_values(const Program& program) {
  Program extended = program;
  extended.constant_outputs.clear();
  for (const Node& node : program.nodes) {
    if (const auto value = find_rounded_value(program, node)) extended.outputs.push_back(*value);
  }
  return extended;
}

RoundingReport check_rounding(const GraphRun& run, const ToleranceRule& tolerance,
                              double error_factor) {
  std::vector<at::Tensor> outputs;
  try {
    outputs = run.rerun(run.graph_case.with(with_rounded_values(*run.graph_case.program)));
  } catch (const std::exception& error) {
    return {.problem = "the graph's rounded values could not be computed: " + run.describe(error)};
  }
  try {
    return RoundedRun(run, outputs, error_factor).judge(tolerance);
  } catch (const std::exception& error) {
    return {.problem = "the graph's rounded values could not be compared: " + message_text(error)};
  }
}

}  // namespace torch_ir
