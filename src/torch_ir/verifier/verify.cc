#include "torch_ir/verifier/verify.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/FunctionRef.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <ostream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/kept_writes.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/verifier/judge_run.h"
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

// Compares the outputs that `details` name.
VerificationReport compare(const std::vector<ValueDetail>& details,
                           const std::vector<at::Tensor>& actual,
                           const std::vector<at::Tensor>& expected, const ToleranceRule& rule) {
  VerificationReport report{.tolerance = rule};
  const auto number_in = [&](const std::vector<at::Tensor>& tensors) {
    return std::ranges::count_if(
        details, [&](const ValueDetail& it) { return *it.output < std::ssize(tensors); });
  };
  if (number_in(actual) != number_in(expected)) {
    report.error_message =
        fmt::format("{}, expected {}", counted(number_in(actual), "output"), number_in(expected));
    return report;
  }
  double sum = 0;
  double count = 0;
  for (const ValueDetail& named : details) {
    const auto place = static_cast<size_t>(*named.output);
    if (place >= actual.size()) break;
    const at::Tensor& value = expected[place];
    ValueDetail& detail = report.output_details.emplace_back(named);
    detail.tolerance =
        tolerance_for(rule, place, value.defined() ? value.scalar_type() : c10::kFloat);
    detail.comparison = compare_tensors(actual[place], value, detail.tolerance);
    const TensorComparison& comparison = detail.comparison;
    if (comparison.is_close) {
      detail.basis = Basis::kTolerance;
    } else {
      detail.problem = comparison_text(comparison);
    }
    if (!comparison.mismatch.empty()) continue;
    if (std::isnan(comparison.max_diff) || comparison.max_diff > report.max_diff) {
      report.max_diff = comparison.max_diff;
    }
    const auto elements = static_cast<double>(comparison.num_elements);
    sum += comparison.mean_diff * elements;
    count += elements;
  }
  report.mean_diff = count == 0 ? 0 : sum / count;
  conclude(report);
  return report;
}

// "max abs. error 0.5, mean abs. error 0.1"
std::string differences_text(const VerificationReport& report) {
  const auto num_mismatches = std::ranges::count_if(
      report.output_details,
      [](const ValueDetail& detail) { return !detail.comparison.mismatch.empty(); });
  const auto num_comparable = std::ssize(report.output_details) - num_mismatches;
  if (num_comparable == 0) return "not comparable";
  std::string text = fmt::format("max abs. error {:.4g}, mean abs. error {:.4g}", report.max_diff,
                                 report.mean_diff);
  if (num_mismatches > 0) text += fmt::format(" ({} not comparable)", num_mismatches);
  return text;
}

// Turns exceptions of `verify` into the error of the report.
std::pair<bool, VerificationReport> guarded(const VerifyOptions& options,
                                            c10::function_ref<VerificationReport()> verify) {
  VerificationReport report{.tolerance = options.tolerance};
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
  Case graph_case =
      Case{.weights = weights, .constants = options.constants, .inputs = copies(inputs)}.with(
          resolve(ir));
  // Runs the plan first: it writes to no weight, but the reference may.
  const RandomState random;
  const std::vector<at::Tensor> actual =
      compile(graph_case, options.execution)
          .run_checked(to_device(copies(inputs), options.execution.device));
  random.restore();
  const at::NoGradGuard no_grad;
  KeptWrites kept;
  graph_case.expected = under(kept, [&] { return reference(graph_case.inputs); });
  std::ranges::copy(state_after(graph_case, kept), std::back_inserter(graph_case.expected));
  return judge_run({.graph_case = graph_case, .outputs = actual}, options.tolerance, Criterion());
}

}  // namespace

void conclude(VerificationReport& report) {
  const std::vector<ValueDetail>& details = report.output_details;
  size_t num_failed = 0;
  report.error_message.clear();
  report.passed_by = Basis::kTolerance;
  for (const ValueDetail& detail : details) {
    // An output that nothing judged has neither.
    const bool is_judged = detail.basis != Basis::kNone || !detail.problem.empty();
    if (is_judged) report.passed_by = std::max(report.passed_by, detail.basis);
    if (detail.problem.empty() || num_failed++ > 0) continue;
    report.error_message =
        detail.state.empty()
            ? fmt::format("output {} '{}': {}", *detail.output, printable(detail.value),
                          detail.problem)
            : fmt::format("state '{}': {}", printable(detail.state), detail.problem);
  }
  if (num_failed > 1) {
    report.error_message = fmt::format("{} of {} outputs differ, the first: {}", num_failed,
                                       details.size(), report.error_message);
  }
  report.is_valid = report.error_message.empty();
}

double VerificationReport::smallest_passing_tolerance() const {
  double smallest = 0;
  for (const ValueDetail& detail : output_details) {
    smallest = std::max(smallest, detail.comparison.smallest_passing_tolerance);
  }
  return smallest;
}

bool VerificationReport::has_exact_outputs() const {
  if (tolerance.by_dtype || tolerance.fixed == kExactTolerance) return false;
  return std::ranges::any_of(output_details, [&](const ValueDetail& detail) {
    const bool has_own = tolerance.outputs.contains(static_cast<size_t>(*detail.output));
    return !has_own && detail.tolerance == kExactTolerance;
  });
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
  stream << "  " << differences_text(report) << "\n  ";
  if (report.optimization) {
    stream << "optimization " << optimization_name(*report.optimization) << ", ";
  }
  stream << rule_text(report.tolerance, report.has_exact_outputs());
  if (report.criterion.reference == ReferenceKind::kAuto) {
    stream << fmt::format(", else error factor {} against float64", kErrorFactor);
  }
  stream << "; smallest passing tolerance: " << tolerance_text(report.smallest_passing_tolerance())
         << '\n';
  for (const ValueDetail& detail : report.output_details) {
    const TensorComparison& comparison = detail.comparison;
    stream << fmt::format("  output {} '{}' {}[{}]{}: ", *detail.output, printable(detail.value),
                          comparison.dtype, fmt::join(comparison.shape, ", "),
                          own_tolerance_text(report.tolerance, detail.tolerance))
           << comparison;
    if (detail.basis == Basis::kOwnError && detail.own_error) {
      const double factor = detail.own_error->rms_ratio;
      stream << (factor == 0 ? "; eager operators compute it, too"
                             : fmt::format("; {:.3g} times as far from float64 as eager operators",
                                           factor));
    }
    stream << '\n';
  }
  if (report.criterion.reference == ReferenceKind::kModel) return stream;
  if (!report.error_message.empty()) stream << "  " << report.error_message << '\n';
  if (report.is_valid && report.passed_by != Basis::kTolerance) {
    stream << "  passed: " << basis_text(report.passed_by) << '\n';
  }
  if (!report.reference_note.empty()) stream << "  " << report.reference_note << '\n';
  if (!report.graph_note.empty()) {
    stream << "  the graph could not be checked: " << report.graph_note << '\n';
  }
  return stream;
}

VerificationReport compare_outputs(const std::vector<at::Tensor>& actual,
                                   const std::vector<at::Tensor>& expected,
                                   const std::vector<std::string>& names,
                                   const ToleranceRule& tolerance) {
  std::vector<ValueDetail> details;
  for (size_t i = 0; i < std::max(actual.size(), expected.size()); ++i) {
    details.push_back({.value = i < names.size() ? names[i] : std::to_string(i),
                       .output = static_cast<int64_t>(i)});
  }
  return compare(details, actual, expected, tolerance);
}

VerificationReport compare_known_outputs(const Program& program,
                                         const std::vector<at::Tensor>& actual,
                                         const std::vector<at::Tensor>& expected,
                                         const ToleranceRule& tolerance) {
  // Outputs that the graph lacks count if one side has more of them.
  const size_t num_places =
      actual.size() == expected.size()
          ? program.outputs.size()
          : std::max({program.outputs.size(), actual.size(), expected.size()});
  std::vector<ValueDetail> details;
  for (size_t i = 0; i < num_places; ++i) {
    if (i < expected.size() && !expected[i].defined()) continue;
    ValueDetail& detail = details.emplace_back();
    detail.value = std::to_string(i);
    if (i < program.outputs.size()) detail = place_of(program, program.outputs[i]);
    const Mutation* mutation = program.find_mutation(i);
    if (mutation != nullptr) detail.state = program[mutation->placeholder].name;
    detail.output = static_cast<int64_t>(i);
  }
  return compare(details, actual, expected, tolerance);
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
