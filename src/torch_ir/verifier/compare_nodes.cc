#include "torch_ir/verifier/compare_nodes.h"

#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/verifier/rounding.h"
#include "torch_ir/verifier/statistics.h"

namespace torch_ir {
namespace {

// Ends the run of the reference after the run of the graph has failed.
struct ActualFailed {};

// Sorts the worst first, ties in graph order. NaN and infinity are greater than all numbers.
std::pair<double, double> badness(const ValueDetail& detail) {
  if (detail.own_error) return {detail.own_error->rms_ratio, detail.own_error->max_ratio};
  const double error = detail.comparison.smallest_passing_tolerance;
  return {std::isnan(error) ? std::numeric_limits<double>::infinity() : error, 0};
}

bool is_worse(const ValueDetail& a, const ValueDetail& b) {
  return badness(a) != badness(b) ? badness(a) > badness(b) : a.index < b.index;
}

bool differs(const TensorComparison& comparison) {
  return !comparison.mismatch.empty() || comparison.max_diff != 0;
}

bool accepts_zeros(const at::Tensor& expected, const Tolerance& tolerance) {
  return compare_tensors(at::zeros_like(expected), expected, tolerance).is_close;
}

enum class Finding { kAgrees, kWrong, kNotJudged };

class NodeComparer {
 public:
  NodeComparer(const Graph& graph, const std::vector<std::string>& values,
               const ActualValue& actual, const ToleranceRule& tolerance, const NodeJudge* judge)
      : graph_(graph),
        actual_(actual),
        judge_(judge),
        ids_(graph.ids()),
        values_(values),
        rounds_(rounds_or_picks(graph)),
        is_compared_(graph.values.size()),
        is_observed_(graph.values.size()) {
    report_.tolerance = tolerance;
    for (const std::string& value : values) is_compared_[ids_.at(value)] = true;
    for (const Node& node : graph.nodes) {
      const c10::FunctionSchema* schema = find_schema(node.target);
      const bool looks_at_it = schema != nullptr && is_view(*schema) && reads_unwritten(node);
      if (!looks_at_it && !facts_of(node.target).makes_empty) continue;
      unwritten_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  void observe(const std::string& name, const at::Tensor& expected) {
    const auto id = ids_.find(name);
    if (id == ids_.end() || !is_compared_[id->second]) return;
    is_observed_[id->second] = true;
    if (!expected.defined()) return skip(name, "None in the model");
    const SeenValue actual = next_actual(name);
    if (!actual.tensor.defined()) {
      // What follows starts from the model's value all the same.
      if (judge_ != nullptr) judge_->own.describes(name, expected, kExactTolerance);
      return skip(name, "it was not returned");
    }
    const uint32_t producer = graph_[id->second].producer.value();
    const Node& node = graph_.nodes[producer];
    if (unwritten_.contains(id->second) && actual.tensor.sizes() == expected.sizes()) {
      // What lies there is what the nodes after it read.
      if (judge_ != nullptr) judge_->own.describes(name, expected, kExactTolerance);
      if (judge_ != nullptr) judge_->own.judge(name, actual);
      return skip(name, "nothing has been written to its memory yet");
    }
    compare(ValueDetail{.index = static_cast<int64_t>(producer),
                        .node = node.name,
                        .op_type = node.target,
                        .value = name},
            actual, expected);
  }

  void fail(const std::string& problem, const std::exception& error) {
    report_.error = problem + ": " + message_text(error);
  }

  NodeReport finish() {
    if (report_.error.empty()) skip_unobserved();
    tell_suspects();
    std::ranges::sort(report_.worst, is_worse);
    report_.worst.resize(std::min(report_.worst.size(), kMaxDetails));
    return std::move(report_);
  }

 private:
  SeenValue next_actual(const std::string& name) {
    try {
      return actual_(name);
    } catch (const std::exception& error) {
      fail("the graph could not be run", error);
      throw ActualFailed();
    }
  }

  void compare(ValueDetail detail, const SeenValue& seen, const at::Tensor& of_model) {
    const at::Tensor& actual = seen.tensor;
    // Quantisation clamps values to the range of the steps.
    const at::Tensor expected = seen.step > 0 ? of_model.clamp(seen.low, seen.high) : of_model;
    const Tolerance own =
        tolerance_of(detail.value, seen.rounded_to.value_or(expected.scalar_type()));
    const Tolerance tolerance = {own.rtol, own.atol + seen.step / 2};
    detail.tolerance = tolerance;
    detail.comparison = compare_tensors(actual, expected, tolerance);
    ++report_.num_compared;
    const bool is_described =
        judge_ == nullptr || judge_->own.describes(detail.value, of_model, tolerance);
    Finding finding;
    if (seen.step > 0 && accepts_zeros(expected, tolerance) && !accepts_zeros(of_model, own)) {
      finding = not_judged(detail, "its scale is so large or small that zeros would pass");
    } else if (judge_ != nullptr) {
      finding = judge(detail, seen, expected, tolerance, is_described);
    } else {
      finding = detail.comparison.is_close ? Finding::kAgrees : Finding::kWrong;
    }
    const bool is_close = detail.comparison.is_close;
    if (finding == Finding::kAgrees) {
      detail.basis = is_close || judge_ == nullptr ? Basis::kTolerance : Basis::kOwnError;
    } else if (finding == Finding::kWrong) {
      detail.problem = detail.own_error && !detail.own_error->problem.empty()
                           ? detail.own_error->problem
                           : "outside the tolerance";
      ++report_.num_mismatched;
      // Any of them may turn out to be the first that is not exonerated.
      outside_.push_back({.node = detail,
                          .actual = statistics(detail.value, actual),
                          .expected = statistics(detail.value, expected)});
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
    const bool has_failed = judge_ != nullptr && judge_->has_failed;
    std::unordered_set<std::string> exonerated;
    if (judge_ != nullptr) {
      for (std::string& name : judge_->own.only_returned_wrong(has_failed)) {
        exonerated.insert(std::move(name));
      }
    }
    for (Divergence& divergence : outside_) {
      if (!exonerated.contains(divergence.node.value)) {
        if (!report_.first_divergence) report_.first_divergence = std::move(divergence);
      } else if (++report_.num_exonerated <= static_cast<int64_t>(kMaxDetails)) {
        report_.exonerated.push_back(std::move(divergence.node));
      }
    }
    if (!has_failed || report_.first_divergence || !excused_) return;
    ++report_.num_mismatched;
    report_.first_divergence = std::move(excused_);
  }

  Finding judge(ValueDetail& detail, const SeenValue& seen, const at::Tensor& expected,
                const Tolerance& tolerance, bool is_described) {
    const Criterion& criterion = judge_->criterion;
    const bool is_auto = criterion.reference == ReferenceKind::kAuto && !criterion.arithmetic;
    const Verdict verdict =
        judge_->own.judge(detail.value, seen, is_auto ? tolerance : kExactTolerance);
    const bool is_close = detail.comparison.is_close;
    const bool is_by_model = criterion.reference == ReferenceKind::kModel;
    const bool goes_by_model = (is_by_model && !criterion.arithmetic) || !is_described;
    if (!detail.comparison.mismatch.empty() || goes_by_model) {
      // What a node leaves unwritten is as right as the executor's.
      const bool is_rest = detail.comparison.mismatch.empty() && verdict.is_right() &&
                           reads_unwritten(graph_.nodes[static_cast<size_t>(*detail.index)]);
      return is_close || is_rest ? Finding::kAgrees : Finding::kWrong;
    }
    const bool is_excused = is_auto && (is_close || verdict.is_close);
    if (!verdict.not_judged.empty()) {
      if (is_excused) return Finding::kAgrees;
      return is_auto && !rounds_ ? Finding::kWrong : not_judged(detail, verdict.not_judged);
    }
    report_.num_other_choices += verdict.num_other_choices;
    if (!differs(detail.comparison)) return Finding::kAgrees;
    detail.own_error = verdict.own;
    if (verdict.steps.num_off() > 0) detail.steps = verdict.steps;
    if (!verdict.own.problem.empty() && !is_excused) return Finding::kWrong;
    if (!verdict.own.problem.empty()) {
      keep_excused(detail, seen.tensor, expected);
      detail.own_error->problem.clear();
    }
    if (!detail.comparison.is_close) ++report_.num_right_locally;
    return Finding::kAgrees;
  }

  // Keeps the value with the greatest own error among those that the tolerance excuses.
  void keep_excused(const ValueDetail& detail, const at::Tensor& actual,
                    const at::Tensor& expected) {
    const double error = badness(detail).first;
    if (std::isinf(error) || (excused_ && error <= badness(excused_->node).first)) return;
    excused_ = Divergence{.node = detail,
                          .actual = statistics(detail.value, actual),
                          .expected = statistics(detail.value, expected)};
  }

  bool reads_unwritten(const Node& node) const {
    return std::ranges::any_of(node.inputs(), [&](ValueId id) { return unwritten_.contains(id); });
  }

  Finding not_judged(const ValueDetail& detail, const std::string& reason) {
    ++report_.num_not_judged;
    keep_reason(report_.not_judged, detail.value, reason);
    return Finding::kNotJudged;
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

  void skip_unobserved() {
    for (const std::string& value : values_) {
      if (!is_observed_[ids_.at(value)]) skip(value, "the model does not report it");
    }
  }

  const Graph& graph_;
  const ActualValue& actual_;
  const NodeJudge* const judge_;
  NodeReport report_;
  // The wrong values.
  std::vector<Divergence> outside_;
  std::optional<Divergence> excused_;
  const std::unordered_map<std::string_view, ValueId> ids_;
  const std::vector<std::string>& values_;
  // Memory that its node does not write, and views of it: whatever lies there is right.
  std::unordered_set<ValueId> unwritten_;
  const bool rounds_;
  // By ValueId.
  std::vector<bool> is_compared_;
  std::vector<bool> is_observed_;
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

NodeReport compare_nodes(const Graph& graph, const std::vector<std::string>& values,
                         const ReferenceRun& reference, const ActualValue& actual,
                         const ToleranceRule& tolerance, const NodeJudge* judge) {
  NodeComparer comparer(graph, values, actual, tolerance, judge);
  try {
    reference(
        [&](const std::string& name, const at::Tensor& value) { comparer.observe(name, value); });
  } catch (const ActualFailed&) {
  } catch (const std::exception& error) {
    comparer.fail("the model could not be run", error);
  }
  return comparer.finish();
}

}  // namespace torch_ir
