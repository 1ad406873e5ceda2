#include "torch_ir/verifier/judge_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
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

// Judges the outputs of a run, and the values that it rounded, in the order of the graph.
class OutputJudge {
 public:
  OutputJudge(const GraphRun& run, VerificationReport& report)
      : run_(run),
        program_(*run.graph_case.program),
        memory_(memory_of(run.graph_case)),
        report_(report),
        outputs_(run.outputs) {
    const std::vector<at::Tensor>& expected = run.graph_case.expected;
    for (size_t i = 0, next = 0; i < program_.outputs.size(); ++i) {
      if (i < expected.size() && expected[i].defined()) {
        details_.emplace(i, &report.output_details.at(next++));
      }
    }
  }

  void judge() {
    if (run_.rerun && rounds_or_picks(program_)) {
      try {
        outputs_ = run_.rerun(run_.graph_case.with(with_rounded_values(program_)));
        take_rounded();
      } catch (const std::exception& error) {
        return fail_others("the graph's rounded values could not be computed: " +
                           run_.describe(error));
      }
    }
    const Criterion& criterion = report_.criterion;
    options_ = {.arithmetic = criterion.arithmetic,
                .error_factor = criterion.error_factor,
                .inside = run_.inside,
                .has_outputs_only = rounded_.empty()};
    judge_.emplace(run_.graph_case, options_);
    for (size_t i = 0; i < program_.nodes.size(); ++i) {
      for (const ValueId id : program_.nodes[i].outputs) {
        if (const auto rounded = rounded_.find(id); rounded != rounded_.end()) {
          judge_rounded(i, id, rounded->second);
        }
        judge_outputs(id, /*in_the_end=*/false);
      }
    }
    for (const ValueId id : program_.outputs) judge_outputs(id, /*in_the_end=*/true);
    if (!problem_.empty()) fail_others(problem_);
  }

 private:
  void take_rounded() {
    size_t next = program_.outputs.size();
    for (const ValueId value : rounded_values(program_)) {
      if (next == outputs_.size() || !outputs_[next].defined()) {
        throw Error("the run returned no '" + printable(program_[value].name) + "'");
      }
      rounded_.emplace(value, outputs_[next++]);
    }
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

  void judge_rounded(size_t index, ValueId id, const at::Tensor& returned) {
    const Node& node = program_.nodes[index];
    const Verdict verdict = judge_->judge(program_[id].name, returned);
    if (!verdict.is_right() && problem_.empty()) {
      problem_ = fmt::format("'{}' ({}): {}", printable(node.name), printable(node.target),
                             verdict.not_judged + verdict.own.problem);
    }
    const StepCounts& steps = verdict.steps;
    if (steps.num_off() == 0 || report_.rounded.size() == kMaxDetails) return;
    ValueDetail detail{.index = static_cast<int64_t>(index),
                       .node = node.name,
                       .op_type = node.target,
                       .value = program_[id].name,
                       .own_error = verdict.own,
                       .steps = steps,
                       .basis = verdict.is_right() ? Basis::kOwnError : Basis::kNone,
                       .problem = verdict.own.problem};
    detail.comparison.num_elements = returned.numel();
    report_.rounded.push_back(std::move(detail));
  }

  // Whether an output is, in the end, what its node made.
  bool is_final(ValueId id) const {
    const auto producer = program_[id].producer;
    return producer && !memory_.is_written(memory_.of(id), *producer + 1, program_.nodes.size());
  }

  void judge_outputs(ValueId id, bool in_the_end) {
    if (is_final(id) == in_the_end) return;
    for (size_t place = 0; place < program_.outputs.size(); ++place) {
      const bool is_judged =
          program_.outputs[place] == id && place < outputs_.size() && outputs_[place].defined();
      if (is_judged) judge_output(place, in_the_end);
    }
  }

  void judge_output(size_t place, bool in_the_end) {
    const at::Tensor& returned = outputs_[place];
    const std::string& name = program_[program_.outputs[place]].name;
    const auto known = details_.find(place);
    const bool is_auto = report_.criterion.reference == ReferenceKind::kAuto;
    const Tolerance tolerance =
        known != details_.end() && is_auto ? known->second->tolerance : kExactTolerance;
    const bool was_rounded = rounded_.contains(program_.outputs[place]);
    Verdict verdict;
    if (in_the_end) {
      verdict = judge_->judge_in_the_end(name, returned, tolerance);
    } else if (!was_rounded) {
      verdict = judge_->judge(name, returned, tolerance);
    }
    if (known == details_.end()) return;
    ValueDetail& detail = *known->second;
    if (detail.comparison.mismatch.empty()) decide(detail, verdict, place);
    const at::Tensor& first = run_.outputs.at(place);
    if (problem_.empty() && !compare_tensors(first, returned, detail.tolerance).is_close) {
      explain(place, first, returned);
    }
  }

  void decide(ValueDetail& detail, const Verdict& verdict, size_t place) const {
    const bool is_auto = report_.criterion.reference == ReferenceKind::kAuto;
    const bool is_close = detail.comparison.is_close;
    if (verdict.steps.num_off() > 0) detail.steps = verdict.steps;
    if (verdict.not_judged.empty()) detail.own_error = verdict.own;
    if (is_close && (is_auto || !verdict.not_judged.empty())) return;
    detail.basis = Basis::kNone;
    detail.problem.clear();
    const bool is_lost = report_.arithmetic && report_.arithmetic->problem.empty() &&
                         report_.arithmetic->outputs.at(place).is_lost;
    if (is_lost) return;
    if (verdict.is_right()) {
      detail.basis = Basis::kOwnError;
    } else if (!verdict.not_judged.empty()) {
      detail.problem = comparison_text(detail.comparison) + "; not judged: " + verdict.not_judged;
    } else {
      detail.problem =
          (is_close ? "" : comparison_text(detail.comparison) + "; ") + verdict.own.problem;
    }
  }

  // The run whose rounded values were asked for is another one than the first: it may have fused
  // other nodes, and decided near ties otherwise.
  void explain(size_t place, const at::Tensor& first, const at::Tensor& returned) {
    if (!ties_) ties_.emplace(run_.graph_case, options_);
    const std::string& name = program_[program_.outputs[place]].name;
    const auto effect = ties_->effect_of_ties(name);
    std::string problem = "there is no near tie that explains it";
    if (effect && first.sizes() == returned.sizes()) {
      const at::Tensor eager = effect->eager.to(c10::kDouble);
      const at::Tensor moved = eager.add(first.to(c10::kDouble)).sub(returned.to(c10::kDouble));
      problem =
          judge_error(compare_errors(moved, effect->flipped, eager),
                      {.unit = 2 * rounding_unit(first.scalar_type()), .is_accumulated = true})
              .problem;
    }
    if (problem.empty()) return;
    problem_ = fmt::format(
        "output {} '{}': it differs from that of the run without rounded values, and {}", place,
        printable(name), problem);
  }

  const GraphRun& run_;
  const Program& program_;
  const GraphMemory memory_;
  VerificationReport& report_;
  // Of the run that is judged: outputs, then rounded values.
  std::vector<at::Tensor> outputs_;
  std::map<ValueId, at::Tensor> rounded_;
  // By place among the outputs.
  std::map<size_t, ValueDetail*> details_;
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
      judge_run(of_model, tolerance,
                {.reference = ReferenceKind::kAuto, .error_factor = report.criterion.error_factor});
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
        "it "
        "computes on this machine for right",
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
