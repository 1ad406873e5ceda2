// What does not fit between a graph and the values it is to run with: all of it at once, a line
// each.
//
// compile and run refuse the same values, each in a list of its own. Call this before them to learn
// everything that is wrong at once. Nothing is moved to a device.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Weights that the graph reads and nobody supplies, and weights of another shape, dtype, layout or
// device than all others, or without data. Surplus weights are listed where there is another
// problem, because the name may be wrong, and else are only warned about. Throws ValidationError
// for an IR that is not well formed.
std::vector<std::string> weight_problems(const IR& ir, const StateDict& weights,
                                         const StateDict& constants = StateDict());

// Inputs that are undefined, on another device than `device`, or of another shape, dtype or layout;
// dynamic sizes that contradict each other or are out of their range; and the number of inputs.
std::vector<std::string> input_problems(const IR& ir, const std::vector<at::Tensor>& inputs,
                                        c10::Device device = c10::kCPU);

// Both: empty where `ir` can run with `weights` and `inputs`.
std::vector<std::string> value_problems(const IR& ir, const StateDict& weights,
                                        const std::vector<at::Tensor>& inputs,
                                        const StateDict& constants = StateDict());

}  // namespace torch_ir
