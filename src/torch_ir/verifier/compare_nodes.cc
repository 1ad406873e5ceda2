#include "torch_ir/verifier/compare_nodes.h"

#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/verifier/own_error.h"
#include "torch_ir/verifier/rounding.h"
#include "torch_ir/verifier/statistics.h"

namespace torch_ir {
namespace {

// Ends the run of the reference after the run of the graph has failed.
struct ActualFailed {};

// Sorts the worst first, ties in graph order. NaN and infinity are greater than all numbers.
std::pair<double, double> badness(const NodeDetail& detail) {
  if (detail.own_error) return {detail.own_error->rms_ratio, detail.own_error->max_ratio};
  const double error = detail.comparison.smallest_passing_tolerance;
  return {std::isnan(error) ? std::numeric_limits<double>::infinity() : error, 0};
}
std::pair<double, double> badness(const NodeOpinion& judged) {
  return {judged.opinion.factor, judged.opinion.executor_error};
}

template <class Detail>
bool is_worse(const Detail& a, const Detail& b) {
  return badness(a) != badness(b) ? badness(a) > badness(b) : a.index < b.index;
}

// Keeps only a limited number of values.
template <class Detail>
void keep_worst(std::vector<Detail>& worst, Detail detail) {
  worst.push_back(std::move(detail));
  if (worst.size() < 2 * kMaxNodeDetails) return;
  std::ranges::nth_element(worst, worst.begin() + kMaxNodeDetails, is_worse<Detail>);
  worst.resize(kMaxNodeDetails);
}

template <class Detail>
void sort_worst(std::vector<Detail>& worst) {
  std::ranges::sort(worst, is_worse<Detail>);
  if (worst.size() > kMaxNodeDetails) worst.resize(kMaxNodeDetails);
}

bool differs(const TensorComparison& comparison) {
  return !comparison.mismatch.empty() || comparison.max_diff != 0;
}

bool accepts_zeros(const at::Tensor& expected, const Tolerance& tolerance) {
  return compare_tensors(at::zeros_like(expected), expected, tolerance).is_close;
}

bool is_output(const Graph& graph, ValueId value) {
  return std::ranges::find(graph.outputs, value) != graph.outputs.end();
}

bool is_read(const Graph& graph, ValueId value) {
  return !graph[value].readers.empty() || is_output(graph, value);
}

enum class Finding { kAgrees, kFollowsWrong, kWrong, kNotJudged };

class NodeComparer {
 public:
  NodeComparer(const Graph& graph, const std::vector<std::string>& values,
               const ActualValue& actual, const ToleranceRule& tolerance,
               const std::optional<NodeJudge>& judge, const Exonerate& exonerate)
      : graph_(graph),
        actual_(actual),
        judge_(judge),
        exonerate_(exonerate),
        values_(values),
        rounds_(rounds_or_picks(graph)),
        is_compared_(graph.values.size()),
        is_observed_(graph.values.size()),
        unused_(graph.values.size()),
        findings_(graph.values.size()) {
    report_.tolerance = tolerance;
    for (ValueId id = 0; id < graph.values.size(); ++id) ids_.emplace(graph[id].name, id);
    for (const std::string& value : values) is_compared_[ids_.at(value)] = true;
  }

  void observe(const std::string& name, const at::Tensor& expected) {
    const auto id = ids_.find(name);
    if (id == ids_.end() || !is_compared_[id->second]) return;
    is_observed_[id->second] = true;
    if (!expected.defined()) return skip(name, "None in the model");
    const SeenValue actual = next_actual(name);
    if (!actual.tensor.defined()) {
      if (judge_ && judge_->local) judge_->local->add(name, actual.tensor, /*is_exact=*/false);
      return skip(name, "the executor does not return it");
    }
    const uint32_t producer = graph_[id->second].producer.value();
    const Node& node = graph_.nodes[producer];
    compare(NodeDetail{.index = static_cast<int64_t>(producer),
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
    sort_worst(report_.worst);
    sort_worst(report_.opinions);
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

  void compare(NodeDetail detail, const SeenValue& seen, const at::Tensor& of_model) {
    const at::Tensor& actual = seen.tensor;
    // Quantisation clamps values to the range of the steps.
    const at::Tensor expected = seen.step > 0 ? of_model.clamp(seen.low, seen.high) : of_model;
    const Tolerance own =
        tolerance_of(detail.value, seen.rounded_to.value_or(expected.scalar_type()));
    const Tolerance tolerance = {own.rtol, own.atol + seen.step / 2};
    detail.comparison = compare_tensors(actual, expected, tolerance);
    ++report_.num_compared;
    note_non_finite(detail, actual, expected);
    Finding finding;
    if (seen.step > 0 && accepts_zeros(expected, tolerance) && !accepts_zeros(of_model, own)) {
      finding = not_judged(detail, "its scale is so large or small that zeros would pass");
    } else if (judge_ && judge_->own) {
      finding = judge_own(detail, seen, tolerance);
    } else if (seen.is_rounded() || !judge_) {
      finding = detail.comparison.is_close ? Finding::kAgrees : Finding::kWrong;
    } else {
      finding = judge(detail, actual, expected);
    }
    findings_[ids_.at(detail.value)] = finding;
    if (judge_ && judge_->local) {
      const bool is_right = finding == Finding::kAgrees || finding == Finding::kFollowsWrong;
      judge_->local->add(detail.value, actual, is_right && !seen.is_rounded());
    }
    if (finding == Finding::kWrong) {
      ++report_.num_mismatched;
      // Any of them may turn out to be the first that is not exonerated.
      if (exonerate_ || (judge_ && judge_->own) || outside_.empty()) {
        outside_.push_back({.node = detail,
                            .actual = statistics(detail.value, actual),
                            .expected = statistics(detail.value, expected)});
      }
    }
    note_error(detail);
    if (detail.own_error || differs(detail.comparison))
      keep_worst(report_.worst, std::move(detail));
  }

  void note_error(const NodeDetail& detail) {
    const double error = detail.comparison.mismatch.empty()
                             ? detail.comparison.max_diff
                             : std::numeric_limits<double>::infinity();
    std::vector<NodeError>& errors = report_.errors;
    if (errors.empty() || errors.back().index != detail.index) errors.push_back({detail.index, 0});
    double& most = errors.back().max_diff;
    if (error > most || std::isnan(error)) most = error;
    if (!detail.own_error) return;
    std::optional<double>& own = errors.back().own_error;
    own = std::max(own.value_or(0), detail.own_error->rms_ratio);
  }

  void tell_suspects() {
    std::vector<bool> is_exonerated = unused_;
    if (exonerate_ && !outside_.empty()) is_exonerated = exonerated_values();
    for (Divergence& divergence : outside_) {
      if (!is_exonerated[ids_.at(divergence.node.value)]) {
        if (!report_.first_divergence) report_.first_divergence = std::move(divergence);
      } else if (++report_.num_exonerated <= static_cast<int64_t>(kMaxNodeDetails)) {
        report_.exonerated.push_back(std::move(divergence.node));
      }
    }
  }

  // By ValueId.
  std::vector<bool> exonerated_values() const {
    std::vector<DoubtedValue> doubted;
    std::vector<bool> exonerated = find_exonerated([&](ValueId value) {
      doubted.push_back({graph_[value].name, graph_[value].readers});
      return true;
    });
    if (doubted.empty()) return exonerated;
    // In graph order.
    std::ranges::reverse(doubted);
    const std::vector<bool> verdicts = exonerate_(doubted);
    for (size_t i = 0; i < doubted.size(); ++i) {
      exonerated[ids_.at(doubted[i].name)] = verdicts.at(i);
    }
    return find_exonerated([&](ValueId value) { return exonerated[value]; });
  }

  // Goes from the last node to the first, since nodes are right if the nodes after them are.
  // `is_exonerated` is asked about values outside the tolerance with right readers only.
  template <class IsExonerated>
  std::vector<bool> find_exonerated(const IsExonerated& is_exonerated) const {
    std::vector<bool> exonerated(graph_.values.size());
    std::vector<bool> is_right(graph_.nodes.size(), true);
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      for (const ValueId output : graph_.nodes[i].outputs) {
        const std::optional<Finding> finding = findings_[output];
        const bool is_wrong = finding == Finding::kWrong;
        const bool is_unread = !is_read(graph_, output) && !is_compared_[output];
        if (is_unread || finding == Finding::kAgrees) continue;
        const std::vector<uint32_t>& readers = graph_[output].readers;
        bool is_cleared = (is_wrong || !finding) && !readers.empty() &&
                          !is_output(graph_, output) &&
                          std::ranges::all_of(readers, [&](auto node) { return is_right[node]; });
        if (is_wrong) is_cleared = is_cleared && is_exonerated(output);
        if (is_wrong && is_cleared) exonerated[output] = true;
        if (!is_cleared) is_right[i] = false;
      }
    }
    return exonerated;
  }

  Finding judge_own(NodeDetail& detail, const SeenValue& seen, const Tolerance& tolerance) {
    const OwnError error = judge_->own->judge(detail.value, seen, tolerance);
    if (!error.not_judged.empty()) return not_judged(detail, error.not_judged);
    detail.own_error = error.verdict;
    report_.num_other_choices += error.num_other_choices;
    for (const std::string& unused : error.exonerated) unused_[ids_.at(unused)] = true;
    if (!error.is_right()) return Finding::kWrong;
    if (!detail.comparison.is_close) ++report_.num_right_locally;
    return Finding::kAgrees;
  }

  Finding judge(const NodeDetail& detail, const at::Tensor& actual, const at::Tensor& expected) {
    const at::Tensor float64 = judge_->run.value(detail.value);
    NodeOpinion judged{.index = detail.index,
                       .node = detail.node,
                       .op_type = detail.op_type,
                       .value = detail.value,
                       .opinion = {.reason = judge_->run.doubt(detail.value)}};
    SecondOpinion& opinion = judged.opinion;
    if (opinion.reason.empty()) opinion = second_opinion(actual, expected, float64);
    const bool has_opinion = opinion.reason.empty();
    const std::string reason = opinion.reason;
    const bool is_undecided = may_be_undecided(detail, has_opinion);
    const bool is_right =
        is_undecided ? detail.comparison.is_close : !is_refused(detail, opinion, expected, float64);
    if (has_opinion) {
      ++report_.num_opinions;
      keep_worst(report_.opinions, std::move(judged));
    } else if (report_.num_without_opinion++ == 0) {
      report_.opinion_problem = opinion.reason;
    }
    if (!is_right) return judge_locally(detail, actual, is_undecided, reason);
    if (!detail.comparison.is_close) ++report_.num_near_float64;
    return Finding::kAgrees;
  }

  Finding judge_locally(const NodeDetail& detail, const at::Tensor& actual, bool is_undecided,
                        const std::string& reason) {
    const bool may_differ = is_undecided || rounds_;
    if (!judge_->local || !may_differ || !detail.comparison.mismatch.empty() ||
        judge_->criterion.reference == ReferenceKind::kModel) {
      return is_undecided ? not_judged(detail, reason) : Finding::kWrong;
    }
    const LocalJudge::Verdict verdict = judge_->local->judge(detail.value, actual);
    if (verdict.basis != Basis::kNone) {
      ++report_.num_right_locally;
      return verdict.follows_wrong ? Finding::kFollowsWrong : Finding::kAgrees;
    }
    const bool is_known = verdict.not_judged.empty() || !is_undecided;
    return is_known ? Finding::kWrong : not_judged(detail, verdict.not_judged);
  }

  Finding not_judged(const NodeDetail& detail, const std::string& reason) {
    ++report_.num_not_judged;
    keep_reason(report_.not_judged, detail.value, reason);
    return Finding::kNotJudged;
  }

  // If only float64 accepts a value, the model's must be as near to float64 as eager's.
  bool is_refused(const NodeDetail& detail, const SecondOpinion& opinion,
                  const at::Tensor& expected, const at::Tensor& float64) const {
    const Criterion& criterion = judge_->criterion;
    const Basis basis = torch_ir::judge(detail.comparison, &opinion, criterion).basis;
    if (basis == Basis::kNone) return true;
    if (basis == Basis::kTolerance || criterion.reference != ReferenceKind::kAuto) return false;
    const SecondOpinion of_model =
        second_opinion(expected, judge_->run.eager_value(detail.value), float64);
    return !opinion_problem(of_model, kAsGoodAsEager).empty();
  }

  // Whether float64 cannot judge the value, nor the tolerance reject it.
  bool may_be_undecided(const NodeDetail& detail, bool has_opinion) const {
    if (has_opinion || !detail.comparison.mismatch.empty()) return false;
    return judge_->criterion.reference == ReferenceKind::kFloat64 ||
           (judge_->criterion.reference == ReferenceKind::kAuto &&
            judge_->run.may_round_otherwise(detail.value));
  }

  Tolerance tolerance_of(const std::string& value, c10::ScalarType dtype) const {
    const auto output = std::ranges::find(graph_.outputs, ids_.at(value));
    const bool is_output = output != graph_.outputs.end();
    const auto position = static_cast<size_t>(output - graph_.outputs.begin());
    return tolerance_for(report_.tolerance, is_output ? position : SIZE_MAX, dtype);
  }

  void note_non_finite(const NodeDetail& detail, const at::Tensor& actual,
                       const at::Tensor& expected) {
    if (report_.first_nan && report_.first_inf) return;
    const NonFiniteCount found = count_non_finite(actual);
    if (found.num_nan == 0 && found.num_inf == 0) return;
    const NonFiniteCount in_model = count_non_finite(expected);
    const auto note = [&](std::optional<NonFinite>& first, bool is_nan, bool is_expected) {
      if (first) return;
      first = NonFinite{.index = detail.index,
                        .node = detail.node,
                        .op_type = detail.op_type,
                        .value = detail.value,
                        .is_nan = is_nan,
                        .is_expected = is_expected};
    };
    if (found.num_nan > 0) note(report_.first_nan, true, in_model.num_nan > 0);
    if (found.num_inf > 0) note(report_.first_inf, false, in_model.num_inf > 0);
  }

  void skip(const std::string& value, const std::string& reason) {
    ++report_.num_skipped;
    keep_reason(report_.skipped, value, reason);
  }

  static void keep_reason(std::vector<NodeReport::Skipped>& list, const std::string& value,
                          const std::string& reason) {
    if (list.size() < kMaxNodeDetails) list.push_back({value, reason});
  }

  void skip_unobserved() {
    for (const std::string& value : values_) {
      if (!is_observed_[ids_.at(value)]) skip(value, "the model does not report it");
    }
  }

  const Graph& graph_;
  const ActualValue& actual_;
  const std::optional<NodeJudge>& judge_;
  const Exonerate& exonerate_;
  NodeReport report_;
  // The values outside the tolerance: only the first if none can be exonerated.
  std::vector<Divergence> outside_;
  std::unordered_map<std::string_view, ValueId> ids_;
  const std::vector<std::string>& values_;
  const bool rounds_;
  // By ValueId.
  std::vector<bool> is_compared_;
  std::vector<bool> is_observed_;
  // Values that the run returned wrong and did not use.
  std::vector<bool> unused_;
  std::vector<std::optional<Finding>> findings_;
};

}  // namespace

std::vector<ValueId> compared_values(const Graph& graph) {
  std::vector<ValueId> values;
  for (const Node& node : graph.nodes) {
    for (const ValueId output : node.outputs) {
      if (node.outputs.size() == 1 || is_read(graph, output)) values.push_back(output);
    }
  }
  return values;
}

NodeReport compare_nodes(const Graph& graph, const std::vector<std::string>& values,
                         const ReferenceRun& reference, const ActualValue& actual,
                         const ToleranceRule& tolerance, const std::optional<NodeJudge>& judge,
                         const Exonerate& exonerate) {
  NodeComparer comparer(graph, values, actual, tolerance, judge, exonerate);
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
