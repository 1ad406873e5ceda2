#include "torch_ir/verifier/verify.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <c10/util/FunctionRef.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <ostream>
#include <sstream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/kept_writes.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/graph/execution_options.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/verifier/picked_indices.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copied;
  for (const at::Tensor& tensor : tensors) {
    copied.push_back(tensor.defined() ? tensor.detach().clone() : tensor);
  }
  return copied;
}

std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId output : graph.outputs) names.push_back(graph[output].name);
  return names;
}

void summarize(VerificationReport& report) {
  double sum = 0;
  double count = 0;
  for (const OutputDetail& detail : report.output_details) {
    const TensorComparison& comparison = detail.comparison;
    if (!comparison.mismatch.empty()) continue;
    if (std::isnan(comparison.max_diff) || comparison.max_diff > report.max_diff) {
      report.max_diff = comparison.max_diff;
    }
    const auto elements = static_cast<double>(comparison.num_elements);
    sum += comparison.mean_diff * elements;
    count += elements;
  }
  report.mean_diff = count == 0 ? 0 : sum / count;
}

ValueVerdict verdict_on(const OutputDetail& detail, const VerificationReport& report) {
  const SecondOpinion* opinion = detail.second_opinion ? &*detail.second_opinion : nullptr;
  ValueVerdict verdict = judge(detail.comparison, opinion, report.criterion);
  const bool may_round =
      verdict.basis == Basis::kNone && detail.comparison.mismatch.empty() && report.rounding;
  if (!may_round) return verdict;
  if (report.rounding->problem.empty()) return {.basis = Basis::kRounding};
  verdict.problem += "; " + report.rounding->problem;
  return verdict;
}

void decide(VerificationReport& report, const std::vector<ValueVerdict>& verdicts) {
  std::vector<OutputDetail>& details = report.output_details;
  size_t num_failed = 0;
  report.error_message.clear();
  report.passed_by = Basis::kTolerance;
  for (size_t i = 0; i < details.size(); ++i) {
    OutputDetail& detail = details[i];
    const ValueVerdict& verdict = verdicts[i];
    detail.basis = verdict.basis;
    detail.problem = verdict.problem;
    // An output that nothing judged has neither.
    const bool is_judged = verdict.basis != Basis::kNone || !verdict.problem.empty();
    if (is_judged) report.passed_by = std::max(report.passed_by, verdict.basis);
    if (verdict.problem.empty() || num_failed++ > 0) continue;
    report.error_message =
        detail.state.empty()
            ? fmt::format("output {} '{}': {}", detail.index, printable(detail.name),
                          verdict.problem)
            : fmt::format("state '{}': {}", printable(detail.state), verdict.problem);
  }
  if (num_failed > 1) {
    report.error_message = fmt::format("{} of {} outputs differ, the first: {}", num_failed,
                                       details.size(), report.error_message);
  }
  report.is_valid = report.error_message.empty();
}

void decide(VerificationReport& report) {
  std::vector<ValueVerdict> verdicts;
  for (const OutputDetail& detail : report.output_details) {
    verdicts.push_back(verdict_on(detail, report));
  }
  decide(report, verdicts);
}

// "max abs. error 0.5, mean abs. error 0.1"
std::string differences_text(const VerificationReport& report) {
  const auto num_mismatches = std::ranges::count_if(
      report.output_details,
      [](const OutputDetail& detail) { return !detail.comparison.mismatch.empty(); });
  const auto num_comparable = std::ssize(report.output_details) - num_mismatches;
  if (num_comparable == 0) return "not comparable";
  std::string text = fmt::format("max abs. error {:.4g}, mean abs. error {:.4g}", report.max_diff,
                                 report.mean_diff);
  if (num_mismatches > 0) text += fmt::format(" ({} not comparable)", num_mismatches);
  return text;
}

// "optimization exact, "; empty if no graph ran.
std::string level_text(const VerificationReport& report) {
  if (!report.optimization) return {};
  return "optimization " + optimization_name(*report.optimization) + ", ";
}

std::string else_text(const Criterion& criterion) {
  if (criterion.reference != ReferenceKind::kAuto) return {};
  return fmt::format(", else error factor {} against float64", criterion.error_factor);
}

// Turns exceptions of `verify` into the error of the report.
std::pair<bool, VerificationReport> guarded(const VerifyOptions& options,
                                            c10::function_ref<VerificationReport()> verify) {
  VerificationReport report;
  report.tolerance = options.tolerance;
  try {
    report = verify();
  } catch (const std::exception& error) {
    report.error_message = "Verification error: " + message_text(error);
  }
  report.optimization = running_level(options.execution);
  return {report.is_valid, report};
}

VerificationReport run_and_compare(const IR& ir, const StateDict& weights,
                                   const ReferenceFn& reference,
                                   const std::vector<at::Tensor>& inputs,
                                   const VerifyOptions& options) {
  Case graph_case{.program = std::make_shared<const Program>(resolve(ir)),
                  .weights = weights,
                  .constants = options.constants,
                  .inputs = copies(inputs)};
  // Runs the plan first: it writes to no weight, but the reference may.
  const std::vector<at::Tensor> actual =
      compile(graph_case, options.execution)
          .run_checked(to_device(copies(inputs), options.execution.device));
  const at::NoGradGuard no_grad;
  KeptWrites kept;
  graph_case.expected = under(kept, [&] { return reference(graph_case.inputs); });
  std::ranges::copy(state_after(graph_case, kept), std::back_inserter(graph_case.expected));
  return judge_run({.graph_case = graph_case, .outputs = actual}, options.tolerance, Criterion());
}

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

// Those of the outputs whose expected values are known.
std::vector<SecondOpinion> known_opinions(const GraphRun& run) {
  const std::vector<at::Tensor>& expected = run.graph_case.expected;
  std::vector<SecondOpinion> known;
  const std::vector<SecondOpinion> all = second_opinions(run.graph_case, run.outputs, expected);
  for (size_t i = 0; i < all.size(); ++i) {
    if (i >= expected.size() || expected[i].defined()) known.push_back(all[i]);
  }
  return known;
}

// An output that the yardstick judges, or cannot judge.
ValueVerdict judge_by_yardstick(OutputDetail& detail, const at::Tensor& output,
                                const Yardstick& yardstick, size_t place,
                                const Criterion& criterion) {
  const ArithmeticReport& report = yardstick.report;
  const ValueVerdict by_tolerance = judge(detail.comparison, nullptr, Criterion());
  if (by_tolerance.problem.empty() || !detail.comparison.mismatch.empty()) return by_tolerance;
  if (!report.problem.empty()) {
    return {.problem = by_tolerance.problem + "; no yardstick: " + report.problem};
  }
  const ArithmeticReport::Output& of_yardstick = report.outputs.at(place);
  if (of_yardstick.is_lost) return {};
  const at::Tensor& expected = yardstick.outputs.at(place);
  const bool is_whole = compares_exactly(output.scalar_type());
  if (is_whole && expected.defined() && at::equal(output, expected)) {
    return {.basis = Basis::kArithmetic};
  }
  const at::Tensor& float64 = yardstick.float64.at(place);
  if (const auto picked = yardstick.picked.find(place); picked != yardstick.picked.end()) {
    const auto& [node, values, error] = picked->second;
    const IndexComparison compared =
        compare_indices(*node, output, expected, values, criterion.error_factor * error,
                        criterion.error_factor * rounding_unit(report.arithmetic));
    if (compared.num_wrong == 0) return {.basis = Basis::kArithmetic};
    return {.problem = by_tolerance.problem + "; " + compared.problem};
  }
  if (is_whole || !float64.defined() || !of_yardstick.doubt.empty()) {
    return {.problem = by_tolerance.problem +
                       (of_yardstick.doubt.empty() ? "" : "; " + of_yardstick.doubt)};
  }
  detail.arithmetic = judge_accumulated(compare_errors(output, expected, float64),
                                        rounding_unit(report.arithmetic), criterion.error_factor);
  if (detail.arithmetic->problem.empty()) return {.basis = Basis::kArithmetic};
  return {.problem = detail.arithmetic->problem};
}

void judge_in_arithmetic(VerificationReport& report, const GraphRun& run,
                         const Criterion& criterion) {
  const Yardstick yardstick = run_yardstick(run.graph_case, {.arithmetic = *criterion.arithmetic,
                                                             .error_factor = criterion.error_factor,
                                                             .inside = run.inside});
  report.arithmetic = yardstick.report;
  report.arithmetic->has_executor = run.computes_in_arithmetic;
  if (!run.computes_in_arithmetic || criterion.min_snr || report.output_details.empty()) return;
  const std::vector<at::Tensor>& expected = run.graph_case.expected;
  std::vector<ValueVerdict> verdicts;
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    if (i < expected.size() && !expected[i].defined()) continue;
    verdicts.push_back(judge_by_yardstick(report.output_details.at(verdicts.size()), run.outputs[i],
                                          yardstick, i, criterion));
  }
  decide(report, verdicts);
}

// Makes the report invalid unless the outputs of the graph, when run by eager operators, agree with
// the expected ones.
void check_graph(VerificationReport& report, const GraphRun& run) {
  std::vector<at::Tensor> eager;
  try {
    eager = run.run_eagerly();
  } catch (const std::exception& error) {
    // Operators that are unknown here leave the graph unproven.
    report.graph_note = run.describe(error);
    return;
  }
  const std::vector<at::Tensor>& expected = run.graph_case.expected;
  const VerificationReport graph =
      compare_known_outputs(*run.graph_case.program, eager, expected, report.tolerance);
  if (graph.is_valid) return;
  if (!run.calls_operators && !graph.output_details.empty()) {
    // Judges the model in place of the executor: is it as near to float64 as eager is?
    const std::vector<SecondOpinion> opinions = second_opinions(run.graph_case, expected, eager);
    const bool is_near = std::ranges::all_of(opinions, [&](const SecondOpinion& opinion) {
      const auto i = static_cast<size_t>(&opinion - opinions.data());
      return !expected.at(i).defined() || opinion_problem(opinion, kAsGoodAsEager).empty();
    });
    if (is_near) return;
  }
  report.graph_problem = graph.error_message;
  report.error_message =
      (report.is_valid ? graph.error_message : report.error_message) +
      "; eager operators compute the same from the graph: the graph does not match the model";
  report.is_valid = false;
  report.passed_by = Basis::kNone;
}

}  // namespace

double VerificationReport::smallest_passing_tolerance() const {
  double smallest = 0;
  for (const OutputDetail& detail : output_details) {
    smallest = std::max(smallest, detail.comparison.smallest_passing_tolerance);
  }
  return smallest;
}

std::optional<double> VerificationReport::worst_factor() const {
  std::optional<double> worst;
  for (const OutputDetail& detail : output_details) {
    if (!detail.second_opinion || !detail.second_opinion->reason.empty()) return std::nullopt;
    worst = std::max(worst.value_or(0), detail.second_opinion->factor);
  }
  return worst;
}

bool VerificationReport::is_exact_by_dtype(const OutputDetail& detail) const {
  const bool has_own = tolerance.outputs.contains(static_cast<size_t>(detail.index));
  return !has_own && !tolerance.by_dtype && tolerance.fixed != kExactTolerance &&
         detail.tolerance == kExactTolerance;
}

bool VerificationReport::has_exact_outputs() const {
  return std::ranges::any_of(output_details,
                             [&](const OutputDetail& detail) { return is_exact_by_dtype(detail); });
}

std::string not_compared_text(const VerificationReport& report) {
  constexpr size_t kMaxNames = 3;
  const std::vector<std::string>& state = report.not_compared;
  return state.empty() ? "" : "state not compared: " + quoted_list(state, kMaxNames);
}

std::ostream& operator<<(std::ostream& stream, const VerificationReport& report) {
  stream << "Verification " << (report.is_valid ? "PASSED" : "FAILED") << '\n';
  if (const std::string text = not_compared_text(report); !text.empty())
    stream << "  " << text << '\n';
  if (report.output_details.empty()) {
    if (!report.error_message.empty()) stream << "  " << report.error_message << '\n';
    return stream;
  }
  stream << "  " << differences_text(report) << '\n'
         << fmt::format("  {}{}; smallest passing tolerance: {}\n", level_text(report),
                        rule_text(report.tolerance, report.has_exact_outputs()) +
                            else_text(report.criterion),
                        tolerance_text(report.smallest_passing_tolerance()));
  for (const OutputDetail& detail : report.output_details) {
    const TensorComparison& comparison = detail.comparison;
    stream << fmt::format("  output {} '{}' {}[{}]{}: ", detail.index, printable(detail.name),
                          comparison.dtype, fmt::join(comparison.shape, ", "),
                          own_tolerance_text(report.tolerance, detail.tolerance))
           << comparison;
    if (detail.basis != Basis::kTolerance && detail.second_opinion) {
      stream << "; " << opinion_text(*detail.second_opinion);
    }
    stream << '\n';
  }
  if (report.criterion.reference == ReferenceKind::kModel) return stream;
  if (!report.error_message.empty()) stream << "  " << report.error_message << '\n';
  if (report.is_valid && report.passed_by != Basis::kTolerance) {
    stream << "  passed: " << basis_text(report.passed_by) << '\n';
  }
  if (!report.graph_note.empty()) {
    stream << "  the graph could not be checked: " << report.graph_note << '\n';
  }
  return stream;
}

VerificationReport compare_outputs(const std::vector<at::Tensor>& actual,
                                   const std::vector<at::Tensor>& expected,
                                   const std::vector<std::string>& names,
                                   const ToleranceRule& rule) {
  VerificationReport report;
  report.tolerance = rule;
  if (actual.size() != expected.size()) {
    report.error_message =
        fmt::format("{}, expected {}", counted(std::ssize(actual), "output"), expected.size());
    return report;
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    const auto dtype = expected[i].defined() ? expected[i].scalar_type() : c10::ScalarType::Float;
    const Tolerance tolerance = tolerance_for(rule, i, dtype);
    report.output_details.push_back(
        {.index = static_cast<int64_t>(i),
         .name = i < names.size() ? names[i] : std::to_string(i),
         .tolerance = tolerance,
         .comparison = compare_tensors(actual[i], expected[i], tolerance)});
  }
  summarize(report);
  decide(report);
  return report;
}

VerificationReport compare_known_outputs(const Program& program,
                                         const std::vector<at::Tensor>& actual,
                                         const std::vector<at::Tensor>& expected,
                                         const ToleranceRule& tolerance) {
  const std::vector<std::string> all_names = output_names(program);
  std::vector<std::string> names;
  std::vector<std::string> states;
  std::vector<at::Tensor> known_actual;
  std::vector<at::Tensor> known_expected;
  ToleranceRule rule = tolerance;
  rule.outputs.clear();
  for (size_t i = 0; i < all_names.size(); ++i) {
    if (i < expected.size() && !expected[i].defined()) continue;
    const auto own = tolerance.outputs.find(i);
    if (own != tolerance.outputs.end()) rule.outputs.emplace(names.size(), own->second);
    const Mutation* mutation = program.find_mutation(i);
    states.push_back(mutation == nullptr ? "" : program[mutation->placeholder].name);
    names.push_back(all_names[i]);
    if (i < actual.size()) known_actual.push_back(actual[i]);
    if (i < expected.size()) known_expected.push_back(expected[i]);
  }
  VerificationReport report = compare_outputs(known_actual, known_expected, names, rule);
  for (size_t i = 0; i < report.output_details.size(); ++i) {
    report.output_details[i].state = states[i];
  }
  if (!report.output_details.empty()) decide(report);
  return report;
}

std::vector<at::Tensor> eager_outputs(const Case& graph_case) {
  return NodeRun(graph_case, {.check = ResultCheck::kWarn}).outputs();
}

void add_expected_state(Case& graph_case) {
  const auto is_known = [](const at::Tensor& tensor) { return tensor.defined(); };
  if (std::ranges::all_of(graph_case.expected, is_known)) return;
  try {
    const std::vector<at::Tensor> computed = eager_outputs(graph_case);
    for (const Mutation& state : graph_case.program->mutations) {
      at::Tensor& expected = graph_case.expected.at(state.output);
      if (!expected.defined()) expected = computed.at(state.output);
    }
  } catch (const Error&) {
    // It is not compared.
  }
}

VerificationReport judge_run(const GraphRun& given, const ToleranceRule& tolerance,
                             Criterion criterion) {
  GraphRun run = given;
  const std::vector<std::string> not_compared = leave_out_state(run);
  const Program& program = *run.graph_case.program;
  VerificationReport report =
      compare_known_outputs(program, run.outputs, run.graph_case.expected, tolerance);
  report.not_compared = not_compared;
  if (criterion.arithmetic && (run.computes_in_arithmetic || run.has_opinions)) {
    judge_in_arithmetic(report, run, criterion);
  }
  if (criterion.arithmetic && run.computes_in_arithmetic && !criterion.min_snr) {
    report.criterion = criterion;
    if (run.rerun && run.proves_graph) check_graph(report, run);
    return report;
  }
  if (criterion.reference == ReferenceKind::kModel && !run.has_opinions && !criterion.min_snr) {
    return report;
  }
  std::vector<SecondOpinion> opinions = known_opinions(run);
  const auto is_missing = [](const SecondOpinion& opinion) { return !opinion.reason.empty(); };
  if (run.may_lack_float64 && std::ranges::any_of(opinions, is_missing)) criterion = Criterion();
  report.criterion = criterion;
  for (size_t i = 0; i < report.output_details.size(); ++i) {
    report.output_details[i].second_opinion = std::move(opinions.at(i));
  }
  if (!report.output_details.empty()) decide(report);
  if (criterion.reference != ReferenceKind::kAuto || !run.rerun) return report;
  if (!report.is_valid && !criterion.min_snr && rounds_or_picks(program)) {
    report.rounding = check_rounding(run, tolerance, criterion.error_factor);
    decide(report);
  }
  if (report.passed_by != Basis::kTolerance || run.proves_graph) check_graph(report, run);
  return report;
}

std::pair<bool, VerificationReport> verify_ir_with_state_dict(const IR& ir,
                                                              const StateDict& state_dict,
                                                              const ReferenceFn& reference,
                                                              const std::vector<at::Tensor>& inputs,
                                                              const VerifyOptions& options) {
  return guarded(options,
                 [&] { return run_and_compare(ir, state_dict, reference, inputs, options); });
}

std::pair<bool, VerificationReport> verify_ir(const IR& ir, const std::string& weights_path,
                                              const ReferenceFn& reference,
                                              const std::vector<at::Tensor>& inputs,
                                              const VerifyOptions& options) {
  return guarded(options, [&] {
    return run_and_compare(ir, load_weights(weights_path), reference, inputs, options);
  });
}

}  // namespace torch_ir
