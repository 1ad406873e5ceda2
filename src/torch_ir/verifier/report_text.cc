#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <ostream>

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/verifier/tolerance_text.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

// "max diff 0.5, mean diff 0.1"
std::string differences_text(const VerificationReport& report) {
  const auto num_mismatches = std::ranges::count_if(
      report.output_details,
      [](const OutputDetail& detail) { return !detail.comparison.mismatch.empty(); });
  const auto num_comparable = std::ssize(report.output_details) - num_mismatches;
  if (num_comparable == 0) return "not comparable";
  std::string text =
      fmt::format("max diff {:.4g}, mean diff {:.4g}", report.max_diff, report.mean_diff);
  if (num_mismatches > 0) text += fmt::format(" ({} not comparable)", num_mismatches);
  return text;
}

// "optimization exact, "; empty where no graph ran.
std::string level_text(const VerificationReport& report) {
  if (!report.optimization) return {};
  return "optimization " + optimization_name(*report.optimization) + ", ";
}

bool has_one_tolerance(const ToleranceRule& rule) { return !rule.by_dtype && rule.outputs.empty(); }

// "rtol 1e-05, atol 1e-05"; where outputs have tolerances of their own, what chose them.
std::string rule_text(const ToleranceRule& rule) {
  if (has_one_tolerance(rule)) return tolerance_text(rule.fixed);
  return rule.outputs.empty() ? "tolerances by dtype" : "tolerances by output";
}

// Where not all have the same.
std::string own_tolerance_text(const VerificationReport& report, const OutputDetail& detail) {
  if (has_one_tolerance(report.tolerance)) return {};
  return " (" + tolerance_text(detail.tolerance) + ")";
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const VerificationReport& report) {
  stream << "Verification " << (report.is_valid ? "PASSED" : "FAILED") << '\n';
  if (report.output_details.empty()) {
    if (!report.error_message.empty()) stream << "  " << report.error_message << '\n';
    return stream;
  }
  stream << "  " << differences_text(report) << '\n'
         << fmt::format("  {}{}; smallest tolerance that passes: {}\n", level_text(report),
                        rule_text(report.tolerance),
                        tolerance_text(report.smallest_passing_tolerance()));
  for (const OutputDetail& detail : report.output_details) {
    const TensorComparison& comparison = detail.comparison;
    stream << fmt::format("  output {} '{}' {}[{}]{}: ", detail.index, detail.name,
                          comparison.dtype, fmt::join(comparison.shape, ", "),
                          own_tolerance_text(report, detail))
           << comparison << '\n';
  }
  return stream;
}

}  // namespace torch_ir
