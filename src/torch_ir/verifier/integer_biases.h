// with_integer_biases: a quantised graph as integer hardware computes it.
//
// PT2E keeps the bias of a convolution or linear layer in float. ONNX Runtime, XNNPACK, TFLite and
// CMSIS-NN add it to the product of integers, as a whole number of steps s_x * s_w.
#pragma once

#include <optional>

#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

// The case with such biases rounded; nothing if it has none.
std::optional<Case> with_integer_biases(const Case& graph_case);

}  // namespace torch_ir
