#include "torch_ir/verifier/judge_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/verifier/judge.h"
#include "torch_ir/verifier/lanes.h"
#include "torch_ir/verifier/rounding.h"

namespace torch_ir {
namespace {

// Expects nothing of state that the run did not return, or that is an output anyway. Returns the
// names of the state that is not compared.
std::vector<std::string> leave_out_state(GraphRun& run) {
  const Program& program = *run.graph_case.program;
  std::vector<at::Tensor>& expected = run.graph_case.expected;
  std::vector<std::string> names;
  for (const auto& [place, placeholder, in_place] : program.mutations) {
    if (place >= std::min(expected.size(), run.outputs.size())) continue;
    const bool is_compared = expected[place].defined() && run.outputs[place].defined();
    const auto first = std::ranges::find(program.outputs, program.outputs[place]);
    const bool is_repeated =
        in_place && first - program.outputs.begin() < static_cast<std::ptrdiff_t>(place);
    // To what schemas name too much nothing is written (state.h).
    const bool is_unchanged = !is_compared && expected[place].defined() &&
                              same_bits(expected[place], tensor_of(run.graph_case, placeholder));
    if (!is_compared && !is_repeated && !is_unchanged) names.push_back(program[placeholder].name);
    if (!is_compared || is_repeated) expected[place] = at::Tensor();
  }
  return names;
}

// Judges the outputs of a run, and the values that it rounds, in the order of the graph.
class OutputJudge {
 public:
  OutputJudge(const GraphRun& run, VerificationReport& report)
      : run_(run),
        program_(*run.graph_case.program),
        report_(report),
        values_(program_.outputs),
        returned_(run.outputs) {}

  void judge() {
    const std::vector<ValueId> rounded = rounded_values(program_);
    if (run_.rerun && !rounded.empty()) {
      try {
        ask_for(rounded);
      } catch (const std::exception& error) {
        return fail_others("the graph's rounded values could not be computed: " +
                           run_.describe(error));
      }
    }
    options_ = {.criterion = report_.criterion,
                .inside = run_.inside,
                .has_outputs_only = values_.size() == program_.outputs.size()};
    judge_.emplace(run_.graph_case, options_);
    std::vector<size_t> places(std::min(values_.size(), returned_.size()));
    std::iota(places.begin(), places.end(), 0);
    const GraphMemory memory = memory_of(run_.graph_case);
    const auto step_of = [&](size_t place) { return judged_after(place, memory); };
    // What is rounded is judged before an output that is the same value.
    std::ranges::stable_sort(places, std::ranges::greater(), [&](size_t i) { return is_extra(i); });
    std::ranges::stable_sort(places, {}, step_of);
    for (const size_t place : places) {
      if (returned_[place].defined()) judge(place, step_of(place) == program_.nodes.size());
    }
    if (!problem_.empty()) fail_others(problem_);
  }

 private:
  bool is_extra(size_t place) const { return place >= program_.outputs.size(); }

  void ask_for(const std::vector<ValueId>& rounded) {
    values_.insert(values_.end(), rounded.begin(), rounded.end());
    returned_ = run_.rerun(run_.graph_case.with(with_outputs(program_, rounded)));
    returned_.resize(values_.size());
    const auto state = returned_.end() - num_state(program_);
    std::rotate(state - std::ssize(rounded), state, returned_.end());
    for (size_t place = program_.outputs.size(); place < values_.size(); ++place) {
      if (returned_[place].defined()) continue;
      throw Error("the run returned no '" + printable(program_[values_[place]].name) + "'");
    }
  }

  // The node after which a value is as it was returned; the number of nodes for an output that
  // nodes write to after it was made, a weight or an input.
  size_t judged_after(size_t place, const GraphMemory& memory) const {
    const size_t end = program_.nodes.size();
    const auto producer = program_[values_[place]].producer;
    if (!producer) return end;
    const bool is_final = !memory.is_written(memory.of(values_[place]), *producer + 1, end);
    return is_extra(place) || is_final ? *producer : end;
  }

  // What is wrong on the way explains the outputs that differ from the model's.
  void fail_others(const std::string& problem) {
    for (ValueDetail& detail : report_.output_details) {
      if (detail.comparison.is_close || !detail.comparison.mismatch.empty()) continue;
      detail.basis = Basis::kNone;
      if (detail.problem.find(problem) != std::string::npos) continue;
      detail.problem = comparison_text(detail.comparison) + "; " + problem;
    }
  }

  void judge(size_t place, bool in_the_end) {
    const at::Tensor& returned = returned_[place];
    const std::string& name = program_[values_[place]].name;
    const auto known = std::ranges::find(report_.output_details, static_cast<int64_t>(place),
                                         &ValueDetail::output);
    const bool is_known = known != report_.output_details.end();
    const Verdict verdict =
        judge_->judge(name, returned, is_known ? known->tolerance : kExactTolerance, in_the_end);
    if (is_extra(place)) keep_rounded(values_[place], returned, verdict);
    if (!is_known) return;
    if (known->comparison.mismatch.empty()) decide(*known, verdict);
    // The run that was asked for rounded values is another one than the first: it may have fused
    // other nodes, and decided near ties otherwise.
    const at::Tensor& first = run_.outputs.at(place);
    if (!problem_.empty() || compare_tensors(first, returned, known->tolerance).is_close) return;
    if (!ties_) ties_.emplace(run_.graph_case, options_);
    const std::string unexplained = ties_->unexplained_by_ties(name, first, returned);
    if (unexplained.empty()) return;
    problem_ = fmt::format(
        "output {} '{}': it differs from that of the run without rounded values, and {}", place,
        printable(name), unexplained);
  }

  void keep_rounded(ValueId id, const at::Tensor& returned, const Verdict& verdict) {
    ValueDetail detail = place_of(program_, id);
    if (!verdict.is_right() && problem_.empty()) {
      problem_ = fmt::format("'{}' ({}): {}", printable(detail.node), printable(detail.op_type),
                             verdict.not_judged + verdict.own.problem);
    }
    if (verdict.steps.num_off() == 0 || report_.rounded.size() == kMaxDetails) return;
    detail.own_error = verdict.own;
    detail.steps = verdict.steps;
    detail.basis = verdict.is_right() ? Basis::kOwnError : Basis::kNone;
    detail.problem = verdict.own.problem;
    detail.comparison.num_elements = returned.numel();
    report_.rounded.push_back(std::move(detail));
  }

  void decide(ValueDetail& detail, const Verdict& verdict) const {
    const bool is_auto = report_.criterion.reference == ReferenceKind::kAuto;
    const bool is_close = detail.comparison.is_close;
    if (verdict.steps.num_off() > 0) detail.steps = verdict.steps;
    if (verdict.not_judged.empty()) detail.own_error = verdict.own;
    if (is_close && (is_auto || !verdict.not_judged.empty())) return;
    detail.basis = Basis::kNone;
    detail.problem.clear();
    const bool is_lost =
        report_.arithmetic && report_.arithmetic->problem.empty() &&
        report_.arithmetic->outputs.at(static_cast<size_t>(*detail.output)).is_lost;
    if (is_lost) return;
    if (verdict.is_right()) {
      detail.basis = Basis::kOwnError;
    } else if (!verdict.not_judged.empty()) {
      detail.problem = comparison_text(detail.comparison) + kToleranceAlone + verdict.not_judged;
    } else {
      detail.problem =
          (is_close ? "" : comparison_text(detail.comparison) + "; ") + verdict.own.problem;
    }
  }

  const GraphRun& run_;
  const Program& program_;
  VerificationReport& report_;
  // Outputs, then rounded values, of the run that is judged.
  std::vector<ValueId> values_;
  std::vector<at::Tensor> returned_;
  JudgeOptions options_;
  std::optional<Judge> judge_;
  std::optional<Judge> ties_;
  // Of the first wrong value on the way.
  std::string problem_;
};

// Makes the report invalid unless the expected outputs are what the graph makes of the inputs.
void check_graph(VerificationReport& report, const GraphRun& run, const ToleranceRule& tolerance) {
  GraphRun of_model{.graph_case = run.graph_case, .outputs = run.graph_case.expected};
  try {
    of_model.graph_case.expected = run.run_eagerly();
  } catch (const std::exception& error) {
    // Operators that are unknown here leave the graph unproven.
    report.graph_note = run.describe(error);
    return;
  }
  // Nothing is known of outputs that the model does not have.
  std::vector<at::Tensor>& eager = of_model.graph_case.expected;
  for (size_t i = 0; i < std::min(eager.size(), of_model.outputs.size()); ++i) {
    if (!of_model.outputs[i].defined()) eager[i] = at::Tensor();
  }
  const VerificationReport graph =
      judge_run(of_model, tolerance, {.reference = ReferenceKind::kAuto});
  if (graph.is_valid) return;
  report.graph_problem =
      compare_known_outputs(*run.graph_case.program, eager, run.graph_case.expected, tolerance)
          .error_message;
  report.error_message =
      (report.is_valid ? report.graph_problem : report.error_message) +
      "; eager operators compute the same from the graph: the graph does not match the model";
  const RandomState before;
  eager_outputs(run.graph_case);
  if (before.has_moved()) report.error_message += ", or that drew other random numbers";
  report.is_valid = false;
  report.passed_by = Basis::kNone;
}

void judge_by(const Threshold& agreed, VerificationReport& report) {
  const auto judge = [&](ValueDetail& detail, double figure, std::optional<double> least,
                         const char* name) {
    if (!least || !detail.comparison.mismatch.empty()) return;
    const bool is_met = figure >= *least;
    detail.basis = is_met && detail.problem.empty() ? Basis::kTolerance : Basis::kNone;
    if (is_met || !detail.problem.empty()) return;
    detail.problem =
        fmt::format("{} of {:.6g}, expected at least {} ({})", name, figure, *least, agreed.place);
  };
  // Without details, their number is wrong.
  const bool has_threshold = agreed.signal_to_noise || agreed.cosine_similarity;
  if (!has_threshold || report.output_details.empty()) return;
  for (ValueDetail& detail : report.output_details) {
    const TensorComparison& c = detail.comparison;
    if (c.mismatch.empty()) detail.problem.clear();
    judge(detail, c.signal_to_noise, agreed.signal_to_noise, "an SNR in dB");
    judge(detail, c.cosine_similarity, agreed.cosine_similarity, "a cosine similarity");
  }
  conclude(report);
}

// LibTorch's products of int8 overflow on some processors. Only graphs with operators that another
// one replaces in float64 run there for this.
std::string note_on_reference(const Case& graph_case) {
  const Program& program = *graph_case.program;
  const auto may_overflow = [](const Node& node) {
    return !facts_of(node.target).float64_operator.empty();
  };
  if (std::ranges::none_of(program.nodes, may_overflow)) return "";
  const std::vector<std::optional<double>> distances = float64_distances(graph_case);
  for (size_t i = 0; i < distances.size(); ++i) {
    const ValueId output = program.outputs[i];
    const double half_of_digits = std::sqrt(rounding_unit(program[output].dtype));
    if (distances[i].value_or(0) <= half_of_digits) continue;
    return fmt::format(
        "the model itself is far from float64: by {:.3g} at its output '{}', so do not take what "
        "it computes on this machine for right",
        *distances[i], printable(program[output].name));
  }
  return "";
}

}  // namespace

VerificationReport judge_run(const GraphRun& given, const ToleranceRule& tolerance,
                             const Criterion& criterion) {
  GraphRun run = given;
  const std::vector<std::string> not_compared = leave_out_state(run);
  VerificationReport report = compare_known_outputs(*run.graph_case.program, run.outputs,
                                                    run.graph_case.expected, tolerance);
  report.not_compared = not_compared;
  if (criterion.agreed) {
    report.criterion = criterion;
    judge_by(*criterion.agreed, report);
    return report;
  }
  if (criterion.reference == ReferenceKind::kModel) return report;
  report.criterion = criterion;
  report.reference_note = note_on_reference(run.graph_case);
  if (criterion.arithmetic) {
    report.arithmetic = report_on_arithmetic(run.graph_case, *criterion.arithmetic, run.inside);
    report.arithmetic->has_executor = true;
  }
  if (report.output_details.empty()) return report;
  if (!report.is_valid || criterion.reference == ReferenceKind::kFloat64) {
    OutputJudge(run, report).judge();
    conclude(report);
  }
  const bool is_proven = report.is_valid && report.passed_by == Basis::kTolerance;
  if (run.run_eagerly && (run.proves_graph || !is_proven)) check_graph(report, run, tolerance);
  return report;
}

}  // namespace torch_ir
