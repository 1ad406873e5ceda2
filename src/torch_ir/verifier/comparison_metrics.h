// measure_difference: the metrics of compare_tensors, gathered a block of elements at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include "torch_ir/verifier/compare.h"

namespace torch_ir {

// Sets the metrics of `result`, whose shape is that of both tensors. They are strided and of one
// dtype.
void measure_difference(const at::Tensor& actual, const at::Tensor& expected,
                        const Tolerance& tolerance, TensorComparison& result);

}  // namespace torch_ir
