#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <ostream>

#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/tolerance_text.h"

namespace torch_ir {
namespace {

std::string differences_text(const TensorComparison& comparison) {
  return fmt::format("max diff {:.4g}, mean diff {:.4g}", comparison.max_diff,
                     comparison.mean_diff);
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const TensorComparison& comparison) {
  if (!comparison.mismatch.empty()) return stream << comparison.mismatch;
  const bool is_equal = comparison.is_close && comparison.worst_actual.empty();
  if (is_equal) return stream << "equal";
  if (comparison.is_close) {
    return stream << "close: " << differences_text(comparison) << ", passes from tolerance "
                  << tolerance_text(comparison.smallest_passing_tolerance);
  }
  return stream << fmt::format(
             "{} of {} element(s) differ: {}; worst at [{}]: {}, expected {}; {}",
             comparison.num_mismatched, comparison.num_elements, differences_text(comparison),
             fmt::join(comparison.worst_index, ", "), comparison.worst_actual,
             comparison.worst_expected,
             std::isfinite(comparison.smallest_passing_tolerance)
                 ? "passes from tolerance " + tolerance_text(comparison.smallest_passing_tolerance)
                 : "no tolerance passes");
}

}  // namespace torch_ir
