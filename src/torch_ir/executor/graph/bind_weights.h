// bind_weights: the first pass of compile. Finds and checks what the caller and the IR supply.
#pragma once

#include <c10/core/Device.h>

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/executor/graph/tensor_registry.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct BoundWeights {
  // By placeholder, and by state dict name for weights without one. What nobody supplies is not
  // there.
  TensorRegistry tensors;
  // Where they are, and where the plan runs.
  c10::Device device = c10::kCPU;
  // The name in the state dict of the missing weight that is the only problem, where its message
  // names the placeholder instead.
  std::string only_missing;
};

// Looks in `weights`, then in `constants`, then in `ir.constants`, each by state dict name and then
// by placeholder. All are moved to `device`; without it they stay where they are, and the constants
// of the IR follow the others. What is not moved is kept, not copied. Throws ExecutionError with a
// problem_list of what the other one says.
BoundWeights bind_weights(const IR& ir, const StateDict& weights, const StateDict& constants,
                          std::optional<c10::Device> device = std::nullopt);

// The same, and in `problems`, a line each, all that does not fit: weights that a node or an output
// reads and nobody supplies, and those of another shape, dtype, layout or device, or without data.
// Where there is any, also what `weights` has and the graph does not: the name may be wrong.
BoundWeights bind_weights(const IR& ir, const StateDict& weights, const StateDict& constants,
                          std::optional<c10::Device> device, std::vector<std::string>& problems);

}  // namespace torch_ir
