// Tensor files: inputs, outputs and expected outputs of a graph, by name.
//
// A tensor file is a safetensors file keyed by the names of the graph's inputs or outputs. A value
// that a graph returns twice is stored once, a number as a tensor without dimensions, None not at
// all. The new value of a buffer or an input, which a graph returns beside its outputs, goes by the
// name of what it updates too.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// One tensor for each graph input. Inputs that were fixed when the model was traced may be in the
// file, as they were then. Throws Error with a problem_list when the file lacks inputs, or has what
// is none.
std::vector<at::Tensor> read_inputs(const std::string& path, const IR& ir);

// The same, for who looks into the values too: inputs that the file lacks are undefined, and what
// it has beside them is in `problems`, a line each.
std::vector<at::Tensor> read_inputs(const std::string& path, const IR& ir,
                                    std::vector<std::string>& problems);

// One tensor for each graph output; undefined for the new value of a buffer or an input that the
// file does not have. Throws Error with a problem_list when the file lacks outputs, or has what is
// none.
std::vector<at::Tensor> read_expected(const std::string& path, const IR& ir);

// Writes what a run returned, one tensor for each graph output.
void write_outputs(const std::string& path, const IR& ir, const std::vector<at::Tensor>& outputs);

}  // namespace torch_ir
