#include "torch_ir/executor/kernels.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/t.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace torch_ir {
namespace {

// The argument at `position` where it is the same dense tensor in every run; undefined otherwise.
at::Tensor fixed_tensor(const Step& step, size_t position) {
  const c10::IValue& value = step.arguments[position];
  const bool is_dense = value.isTensor() && value.toTensor().defined() &&
                        value.toTensor().layout() == c10::kStrided &&
                        !value.toTensor().is_quantized();
  return is_dense ? value.toTensor() : at::Tensor();
}

// aten::linear with its weight transposed beforehand; what aten::linear does itself with an input
// of two dimensions, or three that are contiguous.
void linear(std::vector<c10::IValue>& stack) {
  const at::Tensor& input = stack[0].toTensor();
  const at::Tensor& transposed = stack[1].toTensor();
  const at::Tensor& bias = stack[2].toTensor();
  const bool is_dense = input.layout() == c10::kStrided && !input.is_quantized();
  at::Tensor result;
  if (is_dense && input.dim() == 2) {
    result = at::addmm(bias, input, transposed);
  } else if (is_dense && input.dim() == 3 && input.is_contiguous()) {
    const at::Tensor rows = input.view({input.size(0) * input.size(1), input.size(2)});
    result =
        at::addmm(bias, rows, transposed).view({input.size(0), input.size(1), transposed.size(1)});
  } else {
    result = at::linear(input, transposed.t(), bias);
  }
  stack.clear();
  stack.emplace_back(std::move(result));
}

void choose_for_linear(Step& step) {
  const at::Tensor weight = fixed_tensor(step, 1);
  const at::Tensor bias = fixed_tensor(step, 2);
  if (!weight.defined() || weight.dim() != 2 || !bias.defined() || bias.dim() != 1) return;
  step.arguments[1] = weight.t();
  step.callee = linear;
}

}  // namespace

void choose_kernel(Step& step) {
  static const std::unordered_map<std::string_view, void (*)(Step&)> choices = {
      {"aten.linear.default", choose_for_linear},
  };
  if (const auto found = choices.find(step.op_type); found != choices.end()) found->second(step);
}

}  // namespace torch_ir
