// The files of a reproducer, and what to type where they lie.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "harness/results/result.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

// Writes ir.json, weights.safetensors where there are weights, inputs.safetensors and, unless
// `expected` is empty, expected.safetensors to `directory`, which is made when it is not there. A
// value that is an output twice is stored once, an undefined one not at all. Throws OutputError,
// and WeightError for a dtype that safetensors does not have.
void write_reproducer(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                      const std::vector<at::Tensor>& expected, const std::string& directory);

// What shows the failure of a run with `settings`: "torch-ir verify ir.json ..." for an execution
// plan, "harness --ir . --backend NAME ..." for a backend, and the same with an executor, whose
// command is then to run in that folder too. Where float64 is the reference it is always the
// harness.
std::string reproducer_command(bool has_weights, const Tolerance& tolerance,
                               const RunSettings& settings);

// What shows the failure of a whole graph, whoever runs it: "harness --ir . ...". It draws the
// random numbers of `settings`, and takes a tolerance for each dtype where these do.
std::string whole_graph_command(bool has_expected, const RunSettings& settings);

}  // namespace torch_ir
