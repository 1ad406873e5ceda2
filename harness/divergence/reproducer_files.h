// Writes the files of a reproducer, and its command.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.h"
#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

// The weights that the graph uses, by state dict name. Names that it lacks are constants of the
// program.
StateDict used_weights(const Case& graph_case);

// Writes the case with the weights that it uses to `directory` (case_files.h), or nothing if a file
// cannot hold it, and the wrong outputs, if they are known, beside the expected ones:
// actual.safetensors. Returns what the reports say of it, with the command for `settings`. Throws
// OutputError, and WeightError for what a file cannot hold.
Reproducer write_reproducer(Case graph_case, const RunSettings& settings,
                            const std::string& directory, const std::string& message = {},
                            const std::vector<at::Tensor>& actual = {});

// The command that shows the failure in the folder of the reproducer: "harness --ir . ...", on the
// backend and with the seed and the tolerance of `settings`, which has one for all outputs. (An
// executor's command must run in that folder too.)
std::string reproducer_command(bool has_expected, const RunSettings& settings);

}  // namespace torch_ir
