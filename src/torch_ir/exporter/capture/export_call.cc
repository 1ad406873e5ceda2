#include "torch_ir/exporter/capture/export_call.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/capture/python_form.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

Value value_of(const at::Tensor& tensor) {
  return {.shape = tensor.sizes().vec(), .dtype = tensor.scalar_type()};
}

std::vector<Argument> add_inputs(const c10::FunctionSchema& schema,
                                 const torch::jit::Stack& arguments, ExportedCall& call) {
  TensorTable<ValueId> inputs;
  std::vector<Argument> exported;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = schema.arguments()[i].name();
    size_t position = 0;
    const auto input = [&](const at::Tensor& tensor) {
      const size_t index = position++;
      const auto [id, is_new] = inputs.insert(tensor, ValueId());
      if (is_new) {
        Value value = value_of(tensor);
        value.name = arguments[i].isTensor() ? name : fmt::format("{}_{}", name, index);
        *id = call.program.add_value(std::move(value));
        call.program.inputs.push_back({InputKind::kUserInput, *id});
        call.inputs.push_back(tensor);
      }
      return *id;
    };
    exported.push_back(
        exported_argument(schema.arguments()[i], record_argument<ValueId>(arguments[i], input)));
  }
  return exported;
}

void add_outputs(const std::string& name, const c10::IValue& result, ExportedCall& call) {
  const auto add = [&](const at::Tensor& tensor, bool is_scalar) {
    Value value = value_of(tensor);
    value.is_scalar = is_scalar;
    call.program.outputs.push_back(call.program.add_value(std::move(value)));
    call.outputs.push_back(tensor);
  };
  if (result.isScalar()) {
    const c10::Scalar number = result.toScalar();
    return add(at::scalar_tensor(number, at::dtype(number.type())), true);
  }
  if (!result.isTensor() && !result.isTensorList()) {
    throw ExportError(kNotSupported,
                      fmt::format("{} returns {}, which is neither a tensor nor a number", name,
                                  result.tagKind()));
  }
  for_each_tensor({result}, [&](const at::Tensor& tensor) { add(tensor, false); });
}

}  // namespace

ExportedCall export_call(const c10::OperatorHandle& op, const torch::jit::Stack& arguments) {
  ExportedCall call;
  Node node{.name = {},
            .target = op_type_name(op.operator_name()),
            .arguments = add_inputs(op.schema(), arguments, call)};
  torch::jit::Stack stack = arguments;
  {
    const at::NoGradGuard no_grad;
    op.callBoxed(stack);
  }
  for (const c10::IValue& result : stack) add_outputs(op.schema().name(), result, call);
  node.outputs = call.program.outputs;
  call.program.nodes.push_back(std::move(node));
  name_graph(call.program);
  call.program.torch_version = TORCH_VERSION;
  return call;
}

}  // namespace torch_ir
