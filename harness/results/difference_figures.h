// DifferenceFigures: how far a graph is from what is expected, in the two figures by which reports
// and runs are compared.
//
// Whatever says "max diff" or "smallest passing tolerance" of a model, as a line, a page or a file,
// takes it from here. Plain data.
#pragma once

#include <optional>

#include "harness/results/result.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {

// Of the outputs of one or several trials. Nothing where none could be compared, or a portable file
// does not say.
struct DifferenceFigures {
  std::optional<double> max_diff = std::nullopt;
  // Infinite where none would pass.
  std::optional<double> smallest_passing_tolerance = std::nullopt;
};

// Of one trial.
DifferenceFigures difference_figures(const VerificationReport& report);

// The greatest of all trials, which need not be both of the same one; NaN is greater than all else.
// No tolerance lets a trial pass that could not be compared.
DifferenceFigures difference_figures(const ModelResult& result);

}  // namespace torch_ir
