// For tests: whether an operator gives on meta tensors what it gives on the CPU.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <functional>
#include <string>
#include <vector>

namespace torch_ir {

// `tensor` on the meta device: its sizes, strides and dtype.
at::Tensor meta_twin(const at::Tensor& tensor);

// Sizes, strides and dtype of each tensor in `values`, for comparison and for reading.
std::string describe(const torch::jit::Stack& values);

// The results of `op` on `arguments`, whose tensors are real, and on their meta twins.
struct Agreement {
  // Empty when the call failed.
  std::string cpu;
  std::string meta;
  // Why it failed.
  std::string cpu_error;
  std::string meta_error;
};
Agreement compare_on_meta(const c10::OperatorHandle& op, const torch::jit::Stack& arguments);

// The same for a function of tensors.
using TensorFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;
Agreement compare_on_meta(const TensorFunction& function, const std::vector<at::Tensor>& inputs);

}  // namespace torch_ir
