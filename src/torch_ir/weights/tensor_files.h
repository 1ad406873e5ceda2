// Reads and writes the inputs, outputs and expected outputs of a graph as safetensors files.
//
// Tensors are keyed by the names of the graph's inputs or outputs. A value that a graph returns
// twice is stored once, a number as a tensor without dimensions, None not at all. The new value of
// a buffer or an input has the name of its placeholder or input; if it is also an output with a
// name of its own, it may have either. Its name in the state dict is accepted too.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

// Returns one tensor for each graph input. Inputs fixed during tracing may be in the file, with
// their traced values. Throws Error with a problem_list for missing or unknown inputs.
std::vector<at::Tensor> read_inputs(const std::string& path, const IR& ir);

// As above, but for callers that also inspect values: missing inputs are undefined, and unknown
// ones are added to `problems`, a line each.
std::vector<at::Tensor> inputs_in(const StateDict& file, const IR& ir,
                                  std::vector<std::string>& problems);

// Null if the file has it under none of its names.
const at::Tensor* find_output(const StateDict& file, const Program& program, size_t output);

// The names in the file that no output has.
std::vector<std::string> unknown_outputs(const StateDict& file, const Program& program);

// Returns one tensor for each output of the program; undefined for a missing new value of a buffer
// or an input. Throws Error with a problem_list for missing or unknown outputs.
std::vector<at::Tensor> read_expected(const std::string& path, const Program& program);

// As a file has the outputs of a run: under their own names, and new values of buffers and inputs
// also under the placeholders'.
StateDict outputs_by_name(const Program& program, const std::vector<at::Tensor>& outputs);

}  // namespace torch_ir
