// in_float64: a graph and its tensors as they would be if all of it were computed in float64.
//
// Called by Float64Run. Dtypes are all that changes: every float16, bfloat16 and float32 becomes
// float64, complex numbers complex128, in values, weights, constants and dtype arguments, also of
// the graphs of control flow. Integers and booleans stay what they are. Casts down to a smaller
// dtype are so taken out: what is left is the arithmetic that the graph means.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// float64 for floating point, complex128 for complex numbers, others as they are.
c10::ScalarType in_float64(c10::ScalarType dtype);

// Throws Error, naming the node, where float64 would mean something else: bits taken for another
// dtype, quantized values, results that are properties of the dtype.
IR in_float64(const IR& ir);

// With the strides of the originals; those that share memory share it still. Throws Error where
// they share it under several dtypes. Tensors that need no conversion are not copied.
std::vector<at::Tensor> in_float64(const std::vector<at::Tensor>& tensors);

}  // namespace torch_ir
