// Lists everything that does not fit between a graph and the values it is to run with, one problem
// a line.
//
// compile and run refuse the same values. These functions report all problems at once and move
// nothing to a device.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Weights that the graph reads and nobody supplies; weights whose shape, dtype, layout or device
// does not fit, or that have no data. Lists surplus weights only next to another problem, as the
// name may be wrong, and otherwise warns. Throws ValidationError for an IR that is not well formed.
std::vector<std::string> weight_problems(const IR& ir, const StateDict& weights,
                                         const StateDict& constants = StateDict());

// Inputs that are undefined, or whose device, shape, dtype or layout does not fit; dynamic sizes
// that contradict each other or are out of range; a wrong number of inputs.
std::vector<std::string> input_problems(const IR& ir, const std::vector<at::Tensor>& inputs,
                                        c10::Device device = c10::kCPU);

// Weight problems and input problems: empty if `ir` can run with `weights` and `inputs`.
std::vector<std::string> value_problems(const IR& ir, const StateDict& weights,
                                        const std::vector<at::Tensor>& inputs,
                                        const StateDict& constants = StateDict());

}  // namespace torch_ir
