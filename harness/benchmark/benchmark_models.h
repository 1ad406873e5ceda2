// The models that benchmarks time beside those of //models: two of the size that people run, and a
// stack of any height.
//
// Whoever links this room has ResNet18 (an image of 224x224) and GPT (4 layers of width 256, 64
// tokens) in the registry; they are in no report.
#pragma once

#include "torch_ir/exporter/capture/model.h"

namespace torch_ir {

// `num_layers` pre-norm transformer layers of width 64 over 16 tokens: an input of 1 x 16 x 64.
Model transformer_stack(int64_t num_layers);

}  // namespace torch_ir
