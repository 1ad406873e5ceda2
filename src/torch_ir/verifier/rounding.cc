#include "torch_ir/verifier/rounding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/runtime/graph/bind_weights.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/verifier/float64_run.h"
#include "torch_ir/verifier/picked_indices.h"
#include "torch_ir/verifier/tensor_blocks.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

// The output of a node that rounds or picks indices; nothing for other nodes.
std::optional<ValueId> find_rounded_value(const Graph& graph, const Node& node) {
  if (const auto output = rounded_output(graph, node)) return node.outputs.at(*output);
  return picked_indices(graph, node);
}

ValueId rounded_value(const Graph& graph, const Node& node) {
  return find_rounded_value(graph, node).value();
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

// The graph whose nodes read the values in `rounded` from inputs after its own.
Program cut_at(const Program& program, const std::vector<ValueId>& rounded,
               c10::ArrayRef<at::Tensor> tensors) {
  Program cut = program;
  std::vector<ValueId> replaced_by(cut.values.size());
  std::iota(replaced_by.begin(), replaced_by.end(), 0);
  for (size_t i = 0; i < rounded.size(); ++i) {
    replaced_by[rounded[i]] = add_input(cut, cut[rounded[i]].name + "_as_rounded", tensors[i]);
  }
  const auto redirect = [&](ValueId& use) { use = replaced_by[use]; };
  for (Node& node : cut.nodes) {
    for (Argument& argument : node.arguments) for_each_value(argument, redirect);
  }
  std::ranges::for_each(cut.outputs, redirect);
  set_uses(cut);
  return cut;
}

double greatest_finite(const at::Tensor& tensor) {
  const at::Tensor finite = tensor.masked_select(at::isfinite(tensor)).abs();
  return finite.numel() == 0 ? 0 : finite.max().item<double>();
}

double epsilon_of(c10::ScalarType dtype) {
  if (dtype == c10::kBFloat16) return std::numeric_limits<c10::BFloat16>::epsilon();
  if (dtype == c10::kHalf) return std::numeric_limits<c10::Half>::epsilon();
  return dtype == c10::kDouble ? std::numeric_limits<double>::epsilon()
                               : std::numeric_limits<float>::epsilon();
}

class RoundingCheck {
 public:
  // `rounded` holds what the executor's nodes that round made, in order. `cut` outlives this.
  RoundingCheck(const Case& cut, c10::ArrayRef<at::Tensor> rounded, double error_factor)
      : program_(*cut.program),
        rounded_(rounded),
        error_factor_(error_factor),
        eager_(cut),
        wide_(cut),
        eager_values_(bind_weights(cut).tensors),
        wide_values_(program_.values.size()) {
    const std::vector<ValueId> ids = program_.user_inputs();
    for (size_t i = 0; i < cut.inputs.size(); ++i) eager_values_.at(ids.at(i)) = cut.inputs[i];
  }

  RoundingReport run() {
    RoundingReport report;
    size_t num_checked = 0;
    for (size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      for (const ValueId output : node.outputs) {
        if (last_use(output)) keep(output);
      }
      if (!rounds_or_picks(program_, node)) continue;
      std::string reason = ", which rounding does not explain";
      const RoundedValue value = check(i, rounded_.at(num_checked++), reason);
      add(report, value, reason);
      for (const ValueId input : node.inputs()) {
        if (program_[input].producer && last_use(input) == i) drop(input);
      }
    }
    return report;
  }

 private:
  // The last node that rounds among those that read the value.
  std::optional<size_t> last_use(ValueId id) const {
    const auto& readers = program_[id].readers;
    const auto last = std::find_if(readers.rbegin(), readers.rend(), [&](uint32_t reader) {
      return rounds_or_picks(program_, program_.nodes[reader]);
    });
    return last == readers.rend() ? std::nullopt : std::optional<size_t>(*last);
  }

  // Values may be written to when the runs go on.
  void keep(ValueId id) {
    const std::string& name = program_[id].name;
    eager_values_[id] = eager_.value(id).clone();
    const at::Tensor wide = wide_.value(name);
    if (wide.defined() && wide_.doubt(name).empty()) wide_values_[id] = wide.clone();
  }

  void drop(ValueId id) { eager_values_[id] = wide_values_[id] = at::Tensor(); }

  static void add(RoundingReport& report, const RoundedValue& value, const std::string& reason) {
    if (value.num_off_by_one + value.num_off_by_more + value.num_wrong == 0) return;
    report.values.push_back(value);
    if (value.num_wrong > 0 && report.problem.empty()) {
      report.problem = rounded_text(value) + reason;
    }
  }

  const at::Tensor& eager_value(ValueId id) const {
    if (eager_values_[id].defined()) return eager_values_[id];
    throw Error("the value of '" + printable(program_[id].name) + "' is unknown");
  }

  // The output of the node for `input` in place of its first one.
  at::Tensor round(const Node& node, const at::Tensor& input) const {
    Program alone;
    std::vector<at::Tensor> inputs;
    Node& copy = alone.nodes.emplace_back(node);
    for (Argument& argument : copy.arguments) {
      for_each_value(argument, [&](ValueId& use) {
        const std::string name = fmt::format("input_{}", inputs.size());
        inputs.push_back(inputs.empty() ? input : eager_value(use));
        use = add_input(alone, name, inputs.back(), program_[use].is_scalar);
      });
    }
    for (ValueId& output : copy.outputs) output = alone.add_value(program_[output]);
    alone.outputs = {rounded_value(alone, copy)};
    set_uses(alone);
    return eager_outputs(Case{.inputs = std::move(inputs)}.with(std::move(alone))).at(0);
  }

  // Eager's input in float64, and how far an input may be from it.
  std::pair<at::Tensor, double> center_and_reach(ValueId input) const {
    const at::Tensor& eager = eager_value(input);
    const at::Tensor narrow = eager.to(c10::kDouble);
    const at::Tensor center = wide_values_[input].defined() ? wide_values_[input] : narrow;
    const double rounding = epsilon_of(eager.scalar_type()) * greatest_finite(center);
    return {center, error_factor_ * std::max(greatest_finite(narrow.sub(center)), rounding)};
  }

  // Sets `reason` to what is wrong with indices, if they are.
  RoundedValue check(size_t index, const at::Tensor& executor, std::string& reason) {
    const Node& node = program_.nodes[index];
    RoundedValue value{.index = static_cast<int64_t>(index),
                       .node = node.name,
                       .op_type = node.target,
                       .value = program_[rounded_value(program_, node)].name,
                       .num_elements = executor.numel()};
    const ValueId input = node.inputs().at(0);
    const at::Tensor& own = eager_value(input);
    const at::Tensor eager = round(node, own);
    if (executor.sizes() != eager.sizes() || executor.scalar_type() != eager.scalar_type()) {
      throw Error(fmt::format("the executor's '{}' is {}{}, expected {}{}", printable(value.value),
                              dtype_name(executor.scalar_type()), shape_list_text(executor.sizes()),
                              dtype_name(eager.scalar_type()), shape_list_text(eager.sizes())));
    }
    const auto [center, reach] = center_and_reach(input);
    if (picked_indices(program_, node)) {
      const IndexComparison compared =
          compare_indices(node, executor, eager, center, reach, /*unit=*/0);
      value.num_off_by_more = compared.num_explained + compared.num_wrong;
      value.num_wrong = compared.num_wrong;
      reason = "; " + compared.problem;
      return value;
    }
    const at::Tensor low = round(node, center.sub(reach).to(own.scalar_type()));
    const at::Tensor high = round(node, center.add(reach).to(own.scalar_type()));
    count({strided(executor), strided(eager), strided(low), strided(high)}, value);
    return value;
  }

  static void count(const std::vector<at::Tensor>& sides, RoundedValue& value) {
    const bool has_steps = compares_exactly(sides[0].scalar_type());
    const c10::ScalarType wide = has_steps ? c10::kLong : c10::kDouble;
    const auto number_of = [](const at::Tensor& mask) { return mask.sum().item<int64_t>(); };
    for_each_block(sides, [&](c10::ArrayRef<at::Tensor> blocks, int64_t /*first*/) {
      const at::Tensor executor = blocks[0].to(wide);
      const at::Tensor eager = blocks[1].to(wide);
      const at::Tensor low = blocks[2].to(wide);
      const at::Tensor high = blocks[3].to(wide);
      const at::Tensor both_nan = executor.isnan().logical_and(eager.isnan());
      const at::Tensor differs = executor.ne(eager).logical_and(both_nan.logical_not());
      const at::Tensor is_right =
          executor.ge(at::minimum(low, high)).logical_and(executor.le(at::maximum(low, high)));
      const at::Tensor is_wrong = differs.logical_and(is_right.logical_not());
      const at::Tensor is_far = has_steps ? executor.sub(eager).abs().gt(1) : is_wrong;
      const int64_t num_far = number_of(is_far);
      value.num_off_by_more += num_far;
      value.num_off_by_one += number_of(differs) - num_far;
      value.num_wrong += number_of(is_wrong);
      return true;
    });
  }

  const Program& program_;
  const c10::ArrayRef<at::Tensor> rounded_;
  const double error_factor_;
  NodeRun eager_;
  Float64Run wide_;
  // By ValueId: inputs, weights, and what nodes made that a later one rounds.
  std::vector<at::Tensor> eager_values_;
  std::vector<at::Tensor> wide_values_;
};

// Throws Error if `outputs`, those of with_rounded_values, do not end with all rounded values.
RoundingReport compare_rounded(const GraphRun& run, const std::vector<at::Tensor>& outputs,
                               const ToleranceRule& tolerance, double error_factor) {
  const Program& program = *run.graph_case.program;
  std::vector<ValueId> rounded;
  Case cut = run.graph_case;
  for (const Node& node : program.nodes) {
    if (!rounds_or_picks(program, node)) continue;
    const size_t output = program.outputs.size() + rounded.size();
    rounded.push_back(rounded_value(program, node));
    cut.inputs.push_back(output < outputs.size() ? outputs[output] : at::Tensor());
    if (cut.inputs.back().defined()) continue;
    throw Error("the run returned no '" + printable(program[rounded.back()].name) + "'");
  }
  const auto tensors = c10::ArrayRef<at::Tensor>(cut.inputs).slice(run.graph_case.inputs.size());
  cut.program = std::make_shared<const Program>(cut_at(program, rounded, tensors));
  RoundingReport report = RoundingCheck(cut, tensors, error_factor).run();
  if (!report.problem.empty()) return report;
  cut.expected = eager_outputs(cut);
  const VerificationReport recomputed =
      judge_run({.graph_case = cut, .outputs = run.outputs}, tolerance,
                {.reference = ReferenceKind::kAuto, .error_factor = error_factor});
  if (recomputed.is_valid) return report;
  report.problem = "recomputed from the executor's rounded values, " + recomputed.error_message;
  return report;
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
    return compare_rounded(run, outputs, tolerance, error_factor);
  } catch (const std::exception& error) {
    return {.problem = "the graph's rounded values could not be compared: " + message_text(error)};
  }
}

}  // namespace torch_ir
