// Strides of tensors, which files of tensors do not keep.
//
// A view or a call of a transposed, sliced or expanded tensor differs from that of a contiguous
// one.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// The strides of `tensor`; empty if they are those of a contiguous tensor of its shape.
std::vector<int64_t> special_strides(const at::Tensor& tensor);

// Sets the strides of the user inputs, as `examples` have them, if nodes or guards may read them.
// Those of dynamic inputs are unknown.
void set_input_strides(Program& program, const std::vector<at::Tensor>& examples);

// Copies `tensor` with `strides`, one for each dimension, not negative. Throws Error if elements
// that would share memory differ, or if the strides span more than kMaxStridedBytes and more than
// the elements need.
at::Tensor strided_copy(const at::Tensor& tensor, at::IntArrayRef strides);

// `tensor` in float64, complex numbers as pairs along a new last dimension.
at::Tensor as_doubles(const at::Tensor& tensor);

// Whether two tensors have the same shape, dtype and bits. Compares no data on the meta device.
bool same_elements(const at::Tensor& a, const at::Tensor& b);

}  // namespace torch_ir
