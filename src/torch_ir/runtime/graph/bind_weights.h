// bind_weights: finds and checks the weights and constants of a graph.
#pragma once

#include <c10/core/Device.h>

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/runtime/graph/tensor_registry.h"

namespace torch_ir {

struct BoundWeights {
  // By placeholder, and by state dict name for weights without one. Omits missing weights.
  TensorRegistry tensors;
  c10::Device device = c10::kCPU;
  // The state dict name of the missing weight, if it is the only problem: the message then names
  // its placeholder instead.
  std::string only_missing;
};

// Looks in `weights`, then in `constants`, then in `ir.constants`, each by state dict name and then
// by placeholder. Moves tensors to `device`; without it, moves only constants of the IR, to the
// device of the others. Copies tensors that lack the strides of their TensorMeta. Throws
// ExecutionError with a problem_list.
BoundWeights bind_weights(const IR& ir, const StateDict& weights, const StateDict& constants,
                          std::optional<c10::Device> device = std::nullopt);

// As above, but adds problems to `problems`, one line each: missing weights that the graph reads
// and weights that do not fit, and then also surplus `weights`, as the name may be wrong.
BoundWeights bind_weights(const IR& ir, const StateDict& weights, const StateDict& constants,
                          std::optional<c10::Device> device, std::vector<std::string>& problems);

}  // namespace torch_ir
