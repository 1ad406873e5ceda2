// Meta kernels: shape and dtype of operators for which LibTorch has no Meta kernel in C++.
//
// In Python these kernels are written in Python, so on meta tensors C++ LibTorch alone fails in
// `relu`, `convolution`, `native_batch_norm`, `index_select` and some 150 more. Capture and
// MetaDeviceGuard call this before a model runs on meta tensors.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_ir {

// Makes `tensor` a number in the eyes of type promotion if `source` is one: what `x + 2` wraps 2
// into.
void copy_wrapped_number(const at::Tensor& source, const at::Tensor& tensor);

// `tensor` on the meta device: its sizes, strides and dtype.
at::Tensor meta_twin(const at::Tensor& tensor);

// Registers a kernel with the dispatcher's Meta key for every aten operator that has neither a
// Meta nor a composite kernel: a shape rule for those that models meet, and for the rest one that
// runs the operator on the CPU with zeros and keeps shape, dtype and strides of the result. Also
// for the few composite operators that fail on meta tensors (convolution) or lay out their result
// otherwise than on the CPU (attention, group_norm). Once a process; later calls do nothing.
// Thread-safe.
//
// Operators whose result depends on data (nonzero, item, ...) get none and fail as before; see
// may_depend_on_data.
void register_meta_kernels();

}  // namespace torch_ir
