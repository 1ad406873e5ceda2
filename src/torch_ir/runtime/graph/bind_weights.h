// bind_weights: finds and checks the weights and constants of a graph.
#pragma once

#include <c10/core/Device.h>

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

// One weight is missing, and nothing else is wrong.
struct MissingWeight : ExecutionError {
  MissingWeight(const std::string& what, const std::string& of_python)
      : ExecutionError(what), in_python(of_python) {}
  ExecutionError in_python;
};

struct BoundWeights {
  // By ValueId; undefined for other values and missing weights.
  std::vector<at::Tensor> tensors = {};
  c10::Device device = c10::kCPU;
  // What the Python package says of a missing weight that is the only problem.
  std::string only_missing = {};
};

// Looks in the weights, with their names as the graph's (graph_names.h), then in the constants,
// then in those of the program, each by state dict name and then by placeholder. Moves tensors to
// `device`; without it, moves only constants of the program, to the device of the others. Copies
// tensors that lack the strides of their Value; requires_grad is that of the Value. Throws
// ExecutionError with a problem_list.
BoundWeights bind_weights(const Case& graph_case, std::optional<c10::Device> device = std::nullopt);

// As above, but adds problems to `problems`, one line each: missing weights that the graph reads
// and weights that do not fit, and then also surplus weights, as the name may be wrong. Of many it
// names a few.
BoundWeights bind_weights(const Case& graph_case, std::optional<c10::Device> device,
                          std::vector<std::string>& problems);

}  // namespace torch_ir
