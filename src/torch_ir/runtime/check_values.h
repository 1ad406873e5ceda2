// Lists the problems of the weights and inputs given to a graph, one per line; compile and run
// refuse the same values. Moves nothing to a device.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

// Missing weights that the graph reads, and weights that do not fit in shape, dtype, layout or
// device or have no data. Lists surplus weights only next to other problems, otherwise warns.
std::vector<std::string> weight_problems(const Case& graph_case);

// Inputs that are undefined, or whose device, shape, dtype or layout does not fit; dynamic sizes
// that contradict each other or are out of range; a wrong number of inputs.
std::vector<std::string> input_problems(const Program& program,
                                        const std::vector<at::Tensor>& inputs,
                                        c10::Device device = c10::kCPU);

// Both.
std::vector<std::string> value_problems(const Case& graph_case);

// The first two for the program of `ir`. They throw ValidationError if it is not well formed.
std::vector<std::string> weight_problems(const IR& ir, const StateDict& weights,
                                         const StateDict& constants = StateDict());
std::vector<std::string> input_problems(const IR& ir, const std::vector<at::Tensor>& inputs,
                                        c10::Device device = c10::kCPU);

}  // namespace torch_ir
