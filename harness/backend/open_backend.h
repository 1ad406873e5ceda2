// open_backend: the backend that the settings of a run choose.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/results/result.h"

namespace torch_ir {

// "backends: cpu, npu", or that there are none, for messages.
std::string known_backends();

// Makes the backend of `settings`, with its files below `directory`. Throws Error for an unknown
// name, as make_command_backend, and OutputError.
std::unique_ptr<Backend> open_backend(const RunSettings& settings, const std::string& directory);

// Runs the graph on the backend. State that it does not return is undefined.
std::vector<at::Tensor> run_on(Backend& backend, const Case& graph_case);

// The same, and sets `groups` to the groups of that run, even if the run
// throws. Throws LoadError if they cannot be read or do not fit the graph.
std::vector<at::Tensor> run_grouped(Backend& backend, const Case& graph_case,
                                    std::vector<NodeGroup>& groups);

}  // namespace torch_ir
