#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "torch_ir/verifier/tolerance_text.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

double smallest_passing_tolerance(const VerificationReport& report) {
  double tolerance = 0;
  for (const OutputDetail& detail : report.output_details) {
    tolerance = std::max(tolerance, detail.comparison.smallest_passing_tolerance);
  }
  return tolerance;
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const VerificationReport& report) {
  stream << "Verification " << (report.is_valid ? "PASSED" : "FAILED") << '\n';
  if (!report.error_message.empty()) stream << "  " << report.error_message << '\n';
  if (report.output_details.empty()) return stream;
  stream << fmt::format("  max diff {:.4g}, mean diff {:.4g}\n", report.max_diff, report.mean_diff)
         << fmt::format("  rtol {}, atol {}; smallest tolerance that passes: {}\n",
                        report.tolerance.rtol, report.tolerance.atol,
                        tolerance_text(smallest_passing_tolerance(report)));
  for (const OutputDetail& detail : report.output_details) {
    const TensorComparison& comparison = detail.comparison;
    stream << fmt::format("  output {} '{}' {}[{}]: ", detail.index, detail.name, comparison.dtype,
                          fmt::join(comparison.shape, ", "))
           << comparison << '\n';
  }
  return stream;
}

}  // namespace torch_ir
