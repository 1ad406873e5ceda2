#include "torch_ir/exporter/capture/export_call.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/capture/python_form.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {
namespace {

class CallExporter {
 public:
  CallExporter(const c10::OperatorHandle& op, const torch::jit::Stack& arguments)
      : op_(op), arguments_(arguments) {}

  ExportedCall run() {
    ExportedNode node{.name = {}, .target = op_type_name(op_.operator_name()), .arguments = {}};
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const c10::Argument& argument = op_.schema().arguments()[i];
      const std::string& name = argument.name();
      const bool is_list = !arguments_[i].isTensor();
      size_t position = 0;
      const auto input_of = [&](const at::Tensor& tensor) {
        return input(is_list ? fmt::format("{}_{}", name, position++) : name, tensor);
      };
      node.arguments.push_back(
          exported_argument(argument, record_argument<ValueId>(arguments_[i], input_of)));
    }
    torch::jit::Stack stack = arguments_;
    {
      const at::NoGradGuard no_grad;
      op_.callBoxed(stack);
    }
    for (const c10::IValue& result : stack) add_result(result, node);
    graph().outputs = node.outputs;
    graph().nodes.push_back(std::move(node));
    name_graph(graph());
    call_.program.torch_version = TORCH_VERSION;
    return std::move(call_);
  }

 private:
  ExportedGraph& graph() { return call_.program; }

  ValueId add_value(const at::Tensor& tensor, bool is_scalar, const std::string& name = "") {
    return graph().add_value({.shape = tensor.sizes().vec(),
                              .dtype = tensor.scalar_type(),
                              .is_scalar = is_scalar,
                              .name = name});
  }

  ValueId input(const std::string& name, const at::Tensor& tensor) {
    const auto [id, is_new] = inputs_.insert(tensor, ValueId());
    if (is_new) {
      *id = add_value(tensor, false, name);
      graph().inputs.push_back({InputKind::kUserInput, *id});
      call_.inputs.push_back(tensor);
    }
    return *id;
  }

  void add_output(const at::Tensor& tensor, bool is_scalar, ExportedNode& node) {
    node.outputs.push_back(add_value(tensor, is_scalar));
    call_.outputs.push_back(tensor);
  }

  void add_result(const c10::IValue& result, ExportedNode& node) {
    if (result.isScalar() || result.isBool()) {
      const c10::Scalar number = result.isBool() ? c10::Scalar(result.toBool()) : result.toScalar();
      return add_output(at::scalar_tensor(number, at::dtype(number.type())), true, node);
    }
    if (!result.isTensor() && !result.isTensorList()) {
      throw ExportError(kNotSupported,
                        fmt::format("{} returns {}, which is no tensor and no number",
                                    op_.schema().name(), result.tagKind()));
    }
    for_each_tensor({result}, [&](const at::Tensor& tensor) { add_output(tensor, false, node); });
  }

  const c10::OperatorHandle& op_;
  const torch::jit::Stack& arguments_;
  TensorTable<ValueId> inputs_;
  ExportedCall call_;
};

}  // namespace

ExportedCall export_call(const c10::OperatorHandle& op, const torch::jit::Stack& arguments) {
  return CallExporter(op, arguments).run();
}

}  // namespace torch_ir
