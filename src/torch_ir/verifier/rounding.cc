#include "torch_ir/ir/resolve.h"
#include "torch_ir/verifier/rounding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/runtime/graph/bind_weights.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/verifier/float64_run.h"
#include "torch_ir/verifier/tensor_blocks.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

using Tensors = std::unordered_map<std::string, at::Tensor>;

bool is_float8(const TensorMeta& meta) {
  const auto dtype = find_dtype(meta.dtype);
  return dtype && c10::isFloat8Type(*dtype);
}

// The rounded output of a node that rounds.
TensorMeta rounded_value(const OpNode& node) {
  const size_t index = rounded_output(node).value();
  TensorMeta use = node.outputs.at(index);
  use.producer_node = node.name;
  use.producer_output_idx = static_cast<int64_t>(index);
  return use;
}

std::string name_of_given(const std::string& value) { return value + "_as_rounded"; }

// A graph input, or an argument of a node that runs alone, for `tensor`.
TensorMeta input_for(const std::string& name, const at::Tensor& tensor) {
  return {.name = name,
          .shape = tensor.sizes().vec(),
          .dtype = dtype_name(tensor.scalar_type()),
          .producer_node = name};
}

// The graph whose nodes read the values in `rounded` from inputs after its own.
IR cut_at(const IR& ir, const std::vector<std::pair<std::string, at::Tensor>>& rounded) {
  IR cut = ir;
  std::unordered_set<std::string_view> names;
  for (const auto& [name, tensor] : rounded) {
    names.insert(name);
    cut.graph_inputs.push_back(input_for(name_of_given(name), tensor));
  }
  const auto redirect = [&](TensorMeta& use) {
    if (!names.contains(use.name)) return;
    use.producer_node = use.name = name_of_given(use.name);
    use.producer_output_idx = 0;
  };
  for (OpNode& node : cut.nodes) std::ranges::for_each(node.inputs, redirect);
  std::ranges::for_each(cut.graph_outputs, redirect);
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

std::unordered_map<std::string, at::Tensor> weights_by_name(const IR& ir,
                                                            const StateDict& weights) {
  const Program program = resolve(ir);
  const std::vector<at::Tensor> tensors = bind_weights(program, weights, StateDict()).tensors;
  std::unordered_map<std::string, at::Tensor> by_name;
  for (ValueId id = 0; id < tensors.size(); ++id) {
    if (tensors[id].defined()) by_name.emplace(program[id].name, tensors[id]);
  }
  return by_name;
}

class RoundingCheck {
 public:
  RoundingCheck(const IR& cut, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                const Tensors& rounded, double error_factor)
      : ir_(cut),
        weights_(weights_by_name(cut, weights)),
        rounded_(rounded),
        error_factor_(error_factor),
        eager_(cut, weights, inputs),
        wide_(cut, weights, inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      given_[cut.graph_inputs.at(i).name] = inputs[i];
    }
    for (size_t i = 0; i < cut.nodes.size(); ++i) {
      if (!rounds(cut.nodes[i])) continue;
      for (const TensorMeta& input : cut.nodes[i].inputs) last_use_[input.name] = i;
    }
  }

  RoundingReport run() {
    RoundingReport report;
    for (size_t i = 0; i < ir_.nodes.size(); ++i) {
      const OpNode& node = ir_.nodes[i];
      for (const TensorMeta& output : node.outputs) {
        if (last_use_.contains(output.name)) keep(output.name);
      }
      if (!rounds(node)) continue;
      add(report, check(i, rounded_.at(rounded_value(node).name)));
      std::erase_if(eager_values_, [&](const auto& it) { return last_use_.at(it.first) <= i; });
      std::erase_if(wide_values_, [&](const auto& it) { return last_use_.at(it.first) <= i; });
    }
    return report;
  }

 private:
  // Values may be written to when the runs go on.
  void keep(const std::string& name) {
    eager_values_[name] = eager_.value(name).clone();
    const at::Tensor wide = wide_.value(name);
    if (wide.defined() && wide_.doubt(name).empty()) wide_values_[name] = wide.clone();
  }

  static void add(RoundingReport& report, const RoundedValue& value) {
    if (value.num_off_by_one + value.num_off_by_more + value.num_wrong == 0) return;
    report.values.push_back(value);
    if (value.num_wrong > 0 && report.problem.empty()) {
      report.problem = rounded_text(value) + ", which rounding does not explain";
    }
  }

  at::Tensor eager_value(const std::string& name) const {
    if (const auto made = eager_values_.find(name); made != eager_values_.end()) {
      return made->second;
    }
    if (const auto given = given_.find(name); given != given_.end()) return given->second;
    const auto weight = weights_.find(name);
    if (weight != weights_.end()) return weight->second;
    throw Error("the value of '" + printable(name) + "' is unknown");
  }

  // The output of the node for `input` in place of its first one.
  at::Tensor round(const OpNode& node, const at::Tensor& input) const {
    IR alone;
    alone.nodes = {node};
    alone.graph_outputs = {rounded_value(node)};
    std::vector<at::Tensor> values;
    for (TensorMeta& use : alone.nodes[0].inputs) {
      const bool is_first = values.empty();
      const at::Tensor value = is_first ? input : eager_value(use.name);
      TensorMeta given = input_for(fmt::format("input_{}", values.size()), value);
      given.is_scalar = use.is_scalar;
      given.arg = use.arg;
      use = given;
      given.arg.clear();
      alone.graph_inputs.push_back(given);
      values.push_back(value);
    }
    return eager_outputs(alone, StateDict(), values).at(0);
  }

  // Eager's input in float64, and how far an input may be from it.
  std::pair<at::Tensor, double> center_and_reach(const std::string& input) const {
    const at::Tensor eager = eager_value(input);
    const auto wide = wide_values_.find(input);
    const at::Tensor narrow = eager.to(c10::kDouble);
    const at::Tensor center = wide == wide_values_.end() ? narrow : wide->second;
    const double rounding = epsilon_of(eager.scalar_type()) * greatest_finite(center);
    return {center, error_factor_ * std::max(greatest_finite(narrow.sub(center)), rounding)};
  }

  RoundedValue check(size_t index, const at::Tensor& executor) {
    const OpNode& node = ir_.nodes[index];
    RoundedValue value{.index = static_cast<int64_t>(index),
                       .node = node.name,
                       .op_type = node.op_type,
                       .value = rounded_value(node).name,
                       .num_elements = executor.numel()};
    const at::Tensor own = eager_value(node.inputs.at(0).name);
    const at::Tensor eager = round(node, own);
    if (executor.sizes() != eager.sizes() || executor.scalar_type() != eager.scalar_type()) {
      throw Error(fmt::format("the executor's '{}' is {}{}, expected {}{}", printable(value.value),
                              dtype_name(executor.scalar_type()), shape_list_text(executor.sizes()),
                              dtype_name(eager.scalar_type()), shape_list_text(eager.sizes())));
    }
    const auto [center, reach] = center_and_reach(node.inputs[0].name);
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

  const IR& ir_;
  const std::unordered_map<std::string, at::Tensor> weights_;
  const Tensors& rounded_;
  const double error_factor_;
  NodeRun eager_;
  Float64Run wide_;
  Tensors given_;
  Tensors eager_values_;
  Tensors wide_values_;
  // For each value that nodes which round read, the last of these nodes.
  std::unordered_map<std::string, size_t> last_use_;
};

// The problem of the outputs, given the executor's rounded values; empty if there is none.
std::string output_problem(const IR& cut, const StateDict& weights,
                           const std::vector<at::Tensor>& inputs,
                           const std::vector<at::Tensor>& outputs, const ToleranceRule& tolerance,
                           double error_factor) {
  const std::vector<at::Tensor> expected = eager_outputs(cut, weights, inputs);
  VerificationReport report = compare_known_outputs(cut, outputs, expected, tolerance);
  if (report.is_valid) return "";
  add_second_opinions(report,
                      known_second_opinions({.ir = cut,
                                             .weights = weights,
                                             .inputs = inputs,
                                             .outputs = outputs,
                                             .expected = expected}),
                      {.reference = ReferenceKind::kAuto, .error_factor = error_factor});
  if (report.is_valid) return "";
  return "recomputed from the executor's rounded values, " + report.error_message;
}

}  // namespace

std::optional<size_t> rounded_output(const OpNode& node) {
  if (node.inputs.empty() || node.outputs.empty()) return std::nullopt;
  const OperatorFacts& facts = facts_of(node.op_type);
  // Integers are whole numbers already.
  const auto dtype = find_dtype(node.inputs[0].dtype);
  const bool is_whole = dtype && compares_exactly(*dtype);
  if (!facts.rounded_output.empty() && !is_whole) {
    const size_t output = facts.rounded_output == "0" ? 0 : 1;
    if (output < node.outputs.size()) return output;
  }
  const bool is_cast = facts.rounds_to_float8 && is_float8(node.outputs[0]);
  return is_cast && !is_float8(node.inputs[0]) ? std::optional<size_t>(0) : std::nullopt;
}

bool rounds(const OpNode& node) { return rounded_output(node).has_value(); }

bool rounds(const IRGraph& graph) {
  return std::ranges::any_of(graph.nodes, [](const OpNode& node) { return rounds(node); });
}

std::string rounded_text(const RoundedValue& value) {
  return fmt::format("'{}' ({}): {} of {} elements are off by one step, {} by more",
                     printable(value.node), printable(value.op_type), value.num_off_by_one,
                     value.num_elements, value.num_off_by_more);
}

IR with_rounded_values(const IR& ir) {
  IR extended = ir;
  extended.constant_outputs.clear();
  for (const OpNode& node : ir.nodes) {
    if (rounds(node)) extended.graph_outputs.push_back(rounded_value(node));
  }
  return extended;
}

RoundingReport check_rounding(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs,
                              const std::vector<at::Tensor>& outputs,
                              const std::vector<at::Tensor>& all_outputs,
                              const ToleranceRule& tolerance, double error_factor) {
  try {
    std::vector<std::pair<std::string, at::Tensor>> rounded;
    std::vector<at::Tensor> all_inputs = inputs;
    const IR extended = with_rounded_values(ir);
    for (size_t i = ir.graph_outputs.size(); i < extended.graph_outputs.size(); ++i) {
      const std::string& name = extended.graph_outputs[i].name;
      const at::Tensor value = i < all_outputs.size() ? all_outputs[i] : at::Tensor();
      if (!value.defined()) throw Error("the executor returned no '" + printable(name) + "'");
      rounded.emplace_back(name, value);
      all_inputs.push_back(value);
    }
    const IR cut = cut_at(ir, rounded);
    RoundingReport report = RoundingCheck(cut, weights, all_inputs,
                                          Tensors(rounded.begin(), rounded.end()), error_factor)
                                .run();
    if (!report.problem.empty()) return report;
    report.problem = output_problem(cut, weights, all_inputs, outputs, tolerance, error_factor);
    return report;
  } catch (const std::exception& error) {
    return {.problem = "the graph's rounded values could not be compared: " + message_text(error)};
  }
}

}  // namespace torch_ir
