#include "torch_ir/verifier/compare_nodes.h"

#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/verifier/rounding.h"

namespace torch_ir {
namespace {

// NaN and infinity are worse than all numbers.
std::pair<double, double> badness(const ValueDetail& detail) {
  if (detail.own_error) return {detail.own_error->rms_ratio, detail.own_error->max_ratio};
  const double error = detail.comparison.smallest_passing_tolerance;
  return {std::isnan(error) ? std::numeric_limits<double>::infinity() : error, 0};
}

bool differs(const TensorComparison& comparison) {
  return !comparison.mismatch.empty() || comparison.max_diff != 0;
}

bool accepts_zeros(const at::Tensor& expected, const Tolerance& tolerance) {
  return compare_tensors(at::zeros_like(expected), expected, tolerance).is_close;
}

class NodeComparer {
 public:
  NodeComparer(const Graph& graph, const std::vector<ValueId>& values, const ActualValue& actual,
               const ToleranceRule& tolerance, Judge& judge, bool has_failed)
      : graph_(graph),
        actual_(actual),
        judge_(judge),
        has_failed_(has_failed),
        ids_(graph.ids()),
        values_(values),
        unobserved_(values.begin(), values.end()),
        rounds_(!rounded_values(graph).empty()) {
    report_.tolerance = tolerance;
    for (const Node& node : graph.nodes) {
      const c10::FunctionSchema* schema = find_schema(node.target);
      const bool looks_at_it = schema != nullptr && is_view(*schema) && reads_unwritten(node);
      if (!looks_at_it && !facts_of(node.target).makes_empty) continue;
      unwritten_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  void observe(const std::string& name, const at::Tensor& expected) {
    const auto known = ids_.find(name);
    if (known == ids_.end()) return;
    const ValueId id = known->second;
    if (unobserved_.erase(id) == 0) return;
    if (!expected.defined()) return skip(name, "None in the model");
    const SeenValue actual = next_actual(name);
    if (!actual.tensor.defined()) {
      // What follows starts from the model's value all the same.
      judge_.describes(name, expected, kExactTolerance);
      return skip(name, "it was not returned");
    }
    if (unwritten_.contains(id) && actual.tensor.sizes() == expected.sizes()) {
      // What lies there is what the nodes after it read.
      judge_.describes(name, expected, kExactTolerance);
      judge_.judge(name, actual);
      return skip(name, "nothing has been written to its memory yet");
    }
    compare(place_of(graph_, id), actual, expected);
  }

  // Only the first failure is reported: that of the graph also ends the run of the model.
  void fail(const std::string& problem, const std::exception& error) {
    if (report_.error.empty()) report_.error = problem + ": " + message_text(error);
  }

  NodeReport finish() {
    for (const ValueId value : values_) {
      if (!report_.error.empty()) break;
      if (unobserved_.contains(value)) skip(graph_[value].name, "the model does not report it");
    }
    tell_suspects();
    std::ranges::stable_sort(report_.worst, std::ranges::greater(), badness);
    report_.worst.resize(std::min(report_.worst.size(), kMaxDetails));
    return std::move(report_);
  }

 private:
  SeenValue next_actual(const std::string& name) {
    try {
      return actual_(name);
    } catch (const std::exception& error) {
      fail("the graph could not be run", error);
      throw;
    }
  }

  void compare(ValueDetail detail, const SeenValue& seen, const at::Tensor& of_model) {
    // Quantisation clamps values to the range of the steps.
    const at::Tensor expected = seen.step > 0 ? of_model.clamp(seen.low, seen.high) : of_model;
    const Tolerance own =
        tolerance_of(detail.value, seen.rounded_to.value_or(expected.scalar_type()));
    detail.tolerance = {own.rtol, own.atol + seen.step / 2};
    detail.comparison = compare_tensors(seen.tensor, expected, detail.tolerance);
    ++report_.num_compared;
    const bool is_described = judge_.describes(detail.value, of_model, detail.tolerance);
    const auto with_statistics = [&] {
      return Divergence{.node = detail,
                        .actual = statistics(detail.value, seen.tensor),
                        .expected = statistics(detail.value, expected)};
    };
    if (seen.step > 0 && accepts_zeros(expected, detail.tolerance) &&
        !accepts_zeros(of_model, own)) {
      note_not_judged(detail, "its scale is so large or small that zeros would pass");
    } else if (decide(detail, seen, is_described)) {
      if (detail.own_error && !detail.own_error->problem.empty()) {
        // The worst of what only the tolerance excuses.
        const double error = badness(detail).first;
        const bool is_worst = !excused_ || error > badness(excused_->node).first;
        if (!std::isinf(error) && is_worst) excused_ = with_statistics();
        detail.own_error->problem.clear();
      }
      detail.basis = detail.comparison.is_close ? Basis::kTolerance : Basis::kOwnError;
    } else if (!detail.problem.empty()) {
      ++report_.num_mismatched;
      // Any of them may turn out to be the first that is not exonerated.
      outside_.push_back(with_statistics());
    }
    note_error(detail);
    if (differs(detail.comparison)) report_.worst.push_back(std::move(detail));
  }

  void note_error(const ValueDetail& detail) {
    const double error = detail.comparison.mismatch.empty()
                             ? detail.comparison.max_diff
                             : std::numeric_limits<double>::infinity();
    std::vector<NodeError>& errors = report_.errors;
    if (errors.empty() || errors.back().index != *detail.index)
      errors.push_back({*detail.index, 0});
    double& most = errors.back().max_diff;
    if (error > most || std::isnan(error)) most = error;
    if (!detail.own_error) return;
    std::optional<double>& own = errors.back().own_error;
    own = std::max(own.value_or(0), detail.own_error->rms_ratio);
  }

  void tell_suspects() {
    const std::vector<std::string> exonerated =
        judge_.only_returned_wrong(/*harmless=*/has_failed_);
    for (Divergence& divergence : outside_) {
      if (std::ranges::find(exonerated, divergence.node.value) == exonerated.end()) {
        if (!report_.first_divergence) report_.first_divergence = std::move(divergence);
      } else if (++report_.num_exonerated <= static_cast<int64_t>(kMaxDetails)) {
        report_.exonerated.push_back(std::move(divergence.node));
      }
    }
    if (!has_failed_ || report_.first_divergence || !excused_) return;
    ++report_.num_mismatched;
    report_.first_divergence = std::move(excused_);
  }

  // Whether the value is right. If not, `problem` is how it is wrong, or empty if nothing judges
  // it.
  bool decide(ValueDetail& detail, const SeenValue& seen, bool is_described) {
    const auto& [reference, arithmetic, agreed] = judge_.criterion();
    const bool is_by_model = reference == ReferenceKind::kModel && !arithmetic;
    // An arithmetic makes greater errors in right values.
    const bool has_tolerance = reference != ReferenceKind::kModel && !arithmetic;
    const bool is_auto = reference == ReferenceKind::kAuto && has_tolerance;
    const Verdict verdict =
        judge_.judge(detail.value, seen, has_tolerance ? detail.tolerance : kExactTolerance);
    const TensorComparison& compared = detail.comparison;
    const bool is_comparable = compared.mismatch.empty();
    const bool is_close = compared.is_close || verdict.is_close;
    detail.problem = "outside the tolerance";
    bool is_right = false;
    if (!is_comparable || is_by_model || !is_described) {
      // What a node leaves unwritten is as right as the executor's.
      const bool is_rest = is_comparable && verdict.is_right() &&
                           reads_unwritten(graph_.nodes[static_cast<size_t>(*detail.index)]);
      is_right = compared.is_close || is_rest;
    } else if (!verdict.not_judged.empty()) {
      is_right = is_close;
      detail.problem += kToleranceAlone + verdict.not_judged;
      // A step before it that is another one than the model's would explain a difference.
      if (!is_right && (!has_tolerance || rounds_)) note_not_judged(detail, verdict.not_judged);
    } else {
      report_.num_other_choices += verdict.num_other_choices;
      is_right = (is_auto && is_close) || !differs(compared) || verdict.own.problem.empty();
      if (differs(compared)) {
        detail.own_error = verdict.own;
        if (verdict.steps.num_off() > 0) detail.steps = verdict.steps;
        if (!is_right) detail.problem = verdict.own.problem;
      }
    }
    if (!is_right) return false;
    if (!compared.is_close) ++report_.num_right_locally;
    detail.problem.clear();
    return true;
  }

  bool reads_unwritten(const Node& node) const {
    return std::ranges::any_of(node.inputs(), [&](ValueId id) { return unwritten_.contains(id); });
  }

  void note_not_judged(ValueDetail& detail, const std::string& reason) {
    detail.problem.clear();
    ++report_.num_not_judged;
    keep_reason(report_.not_judged, detail.value, reason);
  }

  Tolerance tolerance_of(const std::string& value, c10::ScalarType dtype) const {
    const auto output = std::ranges::find(graph_.outputs, ids_.at(value));
    const bool is_output = output != graph_.outputs.end();
    const auto position = static_cast<size_t>(output - graph_.outputs.begin());
    return tolerance_for(report_.tolerance, is_output ? position : SIZE_MAX, dtype);
  }

  void skip(const std::string& value, const std::string& reason) {
    ++report_.num_skipped;
    keep_reason(report_.skipped, value, reason);
  }

  static void keep_reason(std::vector<NodeReport::Skipped>& list, const std::string& value,
                          const std::string& reason) {
    if (list.size() < kMaxDetails) list.push_back({value, reason});
  }

  const Graph& graph_;
  const ActualValue& actual_;
  Judge& judge_;
  const bool has_failed_;
  NodeReport report_;
  // The wrong values.
  std::vector<Divergence> outside_;
  std::optional<Divergence> excused_;
  const std::unordered_map<std::string_view, ValueId> ids_;
  const std::vector<ValueId>& values_;
  std::unordered_set<ValueId> unobserved_;
  // Memory that its node does not write, and views of it: whatever lies there is right.
  std::unordered_set<ValueId> unwritten_;
  const bool rounds_;
};

}  // namespace

bool is_used(const Graph& graph, ValueId value) {
  return !graph[value].readers.empty() ||
         std::ranges::find(graph.outputs, value) != graph.outputs.end();
}

std::vector<ValueId> compared_values(const Graph& graph) {
  std::vector<ValueId> values;
  for (const Node& node : graph.nodes) {
    for (const ValueId output : node.outputs) {
      if (node.outputs.size() == 1 || is_used(graph, output)) values.push_back(output);
    }
  }
  return values;
}

NodeReport compare_nodes(const Graph& graph, const std::vector<ValueId>& values,
                         const ReferenceRun& reference, const ActualValue& actual,
                         const ToleranceRule& tolerance, Judge& judge, bool has_failed) {
  NodeComparer comparer(graph, values, actual, tolerance, judge, has_failed);
  try {
    reference(
        [&](const std::string& name, const at::Tensor& value) { comparer.observe(name, value); });
  } catch (const std::exception& error) {
    comparer.fail("the model could not be run", error);
  }
  return comparer.finish();
}

}  // namespace torch_ir
