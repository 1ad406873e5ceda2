// Reads and writes the inputs, outputs and expected outputs of a graph as safetensors files.
//
// Tensors are keyed by the names of the graph's inputs or outputs. A value that a graph returns
// twice is stored once, a number as a tensor without dimensions, None not at all. The new value of
// a buffer or an input may also have the name of that buffer or input.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Returns one tensor for each graph input. Inputs fixed during tracing may be in the file, with
// their traced values. Throws Error with a problem_list for missing or unknown inputs.
std::vector<at::Tensor> read_inputs(const std::string& path, const IR& ir);

// As above, but for callers that also inspect values: missing inputs are undefined, and unknown
// ones are added to `problems`, a line each.
std::vector<at::Tensor> read_inputs(const std::string& path, const IR& ir,
                                    std::vector<std::string>& problems);

// Returns one tensor for each graph output; undefined for a missing new value of a buffer or an
// input. Throws Error with a problem_list for missing or unknown outputs.
std::vector<at::Tensor> read_expected(const std::string& path, const IR& ir);

// Writes the results of a run, one tensor for each graph output.
void write_outputs(const std::string& path, const IR& ir, const std::vector<at::Tensor>& outputs);

}  // namespace torch_ir
