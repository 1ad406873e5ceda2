// size_trials: other sizes for a graph with dynamic dimensions than those of its example.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "harness/stages/trials.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

// The inputs of `program` at the ends of the ranges of its sizes, and at sizes between, or on the
// way from there to the example's, where its ranges and guards allow them. Sizes are at least 1. If
// a range has no end, or the graph would need much memory or time there, they are at most twice the
// example's. `example` has one input for each graph input. Sizes that the model is given as a
// number stay. Names are "s0 = 2, s1 = 9".
//
// The values of the example are repeated, ordered ones (is_ordered) each where it is. If all were
// within a size that becomes too small, as offsets and positions are, they shrink with it.
std::vector<TrialInputs> size_trials(const Program& program,
                                     const std::vector<at::Tensor>& example);

}  // namespace torch_ir
