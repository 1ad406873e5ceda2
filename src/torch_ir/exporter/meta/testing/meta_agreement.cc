#include "torch_ir/exporter/meta/testing/meta_agreement.h"

#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "torch_ir/exporter/meta/cpu_probe.h"

namespace torch_ir {
namespace {

std::string describe_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  return fmt::format("{}{}/{}", c10::toString(tensor.scalar_type()),
                     fmt::format("{}", fmt::join(tensor.sizes(), "x")),
                     fmt::join(tensor.strides(), ","));
}

void run(const std::function<torch::jit::Stack()>& call, std::string& result, std::string& error) {
  try {
    result = describe(call());
  } catch (const c10::Error& failure) {
    error = failure.what_without_backtrace();
  } catch (const std::exception& failure) {
    error = failure.what();
  }
}

torch::jit::Stack call_boxed(const c10::OperatorHandle& op, torch::jit::Stack stack) {
  op.callBoxed(stack);
  return stack;
}

torch::jit::Stack to_stack(const std::vector<at::Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

}  // namespace

at::Tensor meta_twin(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  at::Tensor twin = at::empty_strided(tensor.sizes(), tensor.strides(),
                                      tensor.options().device(c10::DeviceType::Meta));
  copy_wrapped_number(tensor, twin);
  return twin;
}

std::string describe(const torch::jit::Stack& values) {
  std::string text;
  for (const c10::IValue& value : values) {
    map_tensors(value, [&text](const at::Tensor& tensor) {
      text += describe_tensor(tensor) + "; ";
      return tensor;
    });
  }
  return text.empty() ? "nothing" : text;
}

Agreement compare_on_meta(const c10::OperatorHandle& op, const torch::jit::Stack& arguments) {
  Agreement agreement;
  torch::jit::Stack on_meta;
  for (const c10::IValue& argument : arguments) {
    on_meta.push_back(argument.isDevice() ? c10::IValue(c10::Device(c10::DeviceType::Meta))
                                          : map_tensors(argument, meta_twin));
  }
  run([&] { return call_boxed(op, arguments); }, agreement.cpu, agreement.cpu_error);
  run([&] { return call_boxed(op, on_meta); }, agreement.meta, agreement.meta_error);
  return agreement;
}

Agreement compare_on_meta(const TensorFunction& function, const std::vector<at::Tensor>& inputs) {
  Agreement agreement;
  std::vector<at::Tensor> on_meta;
  for (const at::Tensor& input : inputs) on_meta.push_back(meta_twin(input));
  run([&] { return to_stack(function(inputs)); }, agreement.cpu, agreement.cpu_error);
  run([&] { return to_stack(function(on_meta)); }, agreement.meta, agreement.meta_error);
  return agreement;
}

}  // namespace torch_ir
