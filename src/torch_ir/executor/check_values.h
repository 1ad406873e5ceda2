// What does not fit between a graph and what it is to run with: all of it at once, a line each.
//
// For whoever gets weights and inputs from elsewhere, before compile and run, which refuse the same
// in a list of each. Nothing is moved to a device.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Weights that the graph reads and nobody supplies, and those of another shape, dtype, layout or
// device than all others, or without data. Surplus weights are no problem, but are listed where
// there is any: the name may be wrong. Throws ValidationError for an IR that is not well formed.
std::vector<std::string> weight_problems(const IR& ir, const StateDict& weights,
                                         const StateDict& constants = StateDict());

// Inputs that are undefined, on another device than `device`, or of another shape, dtype or layout;
// dynamic sizes that contradict each other or are out of their range; and the number of inputs.
std::vector<std::string> input_problems(const IR& ir, const std::vector<at::Tensor>& inputs,
                                        c10::Device device = c10::kCPU);

}  // namespace torch_ir
