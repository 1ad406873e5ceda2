// Values for a graph that comes without: what `torch-ir benchmark` runs where it is given neither
// weights nor inputs.
//
// They are those of the harness for a model of the graph's name (weights/seeded_tensor.h): numbers
// with which activations neither vanish nor explode. Whole numbers are 0, which is an index into
// anything.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// One tensor for each graph input. Throws Error, with the graph's path, for inputs whose sizes or
// values only a user can choose, and for more than fits a small machine's memory.
std::vector<at::Tensor> random_inputs(const std::string& path, const IR& ir);

// Every weight that is not in `constants` and has no value in the graph. Throws Error, with the
// graph's path, for more than fits a small machine's memory.
StateDict random_weights(const std::string& path, const IR& ir, const StateDict& constants);

}  // namespace torch_ir
