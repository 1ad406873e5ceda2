#include "harness/results/difference_figures.h"

#include <cmath>
#include <limits>

namespace torch_ir {
namespace {

void raise(std::optional<double>& greatest, const std::optional<double>& figure) {
  if (!figure) return;
  if (!greatest || std::isnan(*figure) || *figure > *greatest) greatest = figure;
}

}  // namespace

DifferenceFigures difference_figures(const VerificationReport& report) {
  DifferenceFigures figures;
  if (report.output_details.empty()) return figures;
  figures.smallest_passing_tolerance = report.smallest_passing_tolerance();
  for (const OutputDetail& detail : report.output_details) {
    if (detail.comparison.mismatch.empty()) figures.max_diff = report.max_diff;
  }
  return figures;
}

DifferenceFigures difference_figures(const ModelResult& result) {
  DifferenceFigures all;
  bool is_complete = true;
  for (const Trial& trial : result.trials) {
    const DifferenceFigures figures = difference_figures(trial.verification);
    raise(all.max_diff, figures.max_diff);
    raise(all.smallest_passing_tolerance, figures.smallest_passing_tolerance);
    if (!figures.smallest_passing_tolerance) is_complete = false;
  }
  if (all.smallest_passing_tolerance && !is_complete) {
    all.smallest_passing_tolerance = std::numeric_limits<double>::infinity();
  }
  return all;
}

}  // namespace torch_ir
