// Meta kernels for operators that have none in C++.
//
// Python implements these kernels in Python, so on meta tensors C++ LibTorch alone fails in `relu`,
// `convolution`, `native_batch_norm`, `index_select` and some 150 more.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_ir {

// Makes `tensor` count as a number in type promotion if `source` does, as the 2 in `x + 2`.
void copy_wrapped_number(const at::Tensor& source, const at::Tensor& tensor);

at::Tensor meta_twin(const at::Tensor& tensor);

// Registers a Meta kernel for every aten operator that has neither a Meta nor a composite kernel: a
// shape rule for common ones, otherwise one that runs the operator on the CPU with zeros. Also
// replaces composite operators that fail on meta tensors (convolution) or lay out their result
// differently than on the CPU (attention, group_norm). Runs once per process. Thread-safe.
//
// Operators whose result depends on data (nonzero, item, ...) still fail; see may_depend_on_data.
void register_meta_kernels();

}  // namespace torch_ir
