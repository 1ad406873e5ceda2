// Writes the files of a reproducer, and its command.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "harness/results/result.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The weights that `ir` uses, by state dict name; `weights` may be keyed by name or placeholder.
// Names that `weights` lacks are constants of the graph.
StateDict used_weights(const IR& ir, const StateDict& weights);

// The rule for the outputs of `part`, where outputs of `ir` keep their own tolerances.
ToleranceRule part_tolerance(const ToleranceRule& whole, const IR& ir, const IR& part);

// Writes ir.json, weights.safetensors if there are weights, inputs.safetensors and, unless
// `expected` is empty, expected.safetensors to `directory`, which is made if missing. A repeated
// output is stored once, an undefined one not at all. Throws OutputError, and WeightError for a
// dtype that safetensors lacks.
void write_reproducer(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                      const std::vector<at::Tensor>& expected, const std::string& directory);

// The command that shows the failure of a run with `settings`: "torch-ir verify ir.json ..." for an
// execution plan, "harness --ir . ..." for other backends, for executors (whose command must run in
// that folder too), and where float64 is the reference.
std::string reproducer_command(bool has_weights, const Tolerance& tolerance,
                               const RunSettings& settings);

// The harness command that shows the failure of a whole graph on any backend, with the seed and
// tolerances of `settings`.
std::string whole_graph_command(bool has_expected, const RunSettings& settings);

}  // namespace torch_ir
