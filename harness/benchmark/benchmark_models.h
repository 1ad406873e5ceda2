// The models that are timed: those of the registry, and two of the size that people run.
//
// For benchmarks only. The two are in no report, so they are not in the registry.
#pragma once

#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch_ir {

// The models of the registry, by name; then ResNet18 (an image of 224x224) and GPT (4 layers of
// width 256, 64 tokens).
std::vector<RegisteredModel> list_benchmark_models();

// A stack of `num_layers` pre-norm transformer layers of width 64 over 16 tokens.
RegisteredModel transformer_stack(int64_t num_layers);

}  // namespace torch_ir
