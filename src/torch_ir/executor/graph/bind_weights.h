// bind_weights: the first pass of compile. Finds and checks what the caller and the IR supply.
#pragma once

#include <c10/core/Device.h>

#include <optional>

#include "torch_ir/executor/graph/tensor_registry.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct BoundWeights {
  // By placeholder, and by state dict name for weights without one. What nobody supplies is not
  // there: whether that is an error depends on who uses it.
  TensorRegistry tensors;
  // Where they are, and where the plan runs.
  c10::Device device = c10::kCPU;
};

// Looks in `weights`, then in `constants`, then in `ir.constants`, each by state dict name and then
// by placeholder. All are moved to `device`; without it they stay where they are, and the constants
// of the IR follow the others. What is not moved is kept, not copied. Throws ExecutionError when a
// shape, a dtype or a device does not fit.
BoundWeights bind_weights(const IR& ir, const StateDict& weights, const StateDict& constants,
                          std::optional<c10::Device> device = std::nullopt);

}  // namespace torch_ir
