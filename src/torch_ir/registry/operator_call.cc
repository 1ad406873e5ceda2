#include "torch_ir/registry/operator_call.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>
#include <torch/version.h>

#include <string>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {
namespace {

TensorMeta describe(std::string name, const at::Tensor& tensor) {
  TensorMeta meta;
  meta.name = std::move(name);
  meta.shape = tensor.sizes().vec();
  meta.dtype = dtype_name(tensor.scalar_type());
  return meta;
}

struct CallResult {
  at::Tensor tensor;
  bool is_number;
};

std::vector<CallResult> results_in(const std::vector<c10::IValue>& stack) {
  std::vector<CallResult> results;
  for (const c10::IValue& value : stack) {
    if (value.isScalar()) {
      results.push_back({c10::scalar_to_tensor(value.toScalar()), true});
    }
    for (at::Tensor& tensor : tensors_of(value)) results.push_back({std::move(tensor), false});
  }
  return results;
}

bool is_default(const c10::IValue& value, const c10::Argument& argument) {
  if (!argument.default_value()) return value.isNone();
  return *argument.default_value() == value;
}

// The arguments of a node, with inputs of the graph for tensors.
std::vector<CallArgument> node_arguments(const c10::FunctionSchema& schema,
                                         const std::vector<c10::IValue>& arguments,
                                         const std::vector<TensorMeta>& inputs) {
  size_t next = 0;
  const auto take_input = [&](const at::Tensor&) {
    TensorMeta meta = inputs.at(next++);
    meta.producer_node = meta.name;
    return meta;
  };
  std::vector<CallArgument> encoded;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const auto recorded = record_argument<TensorMeta>(arguments[i], take_input);
    if (const auto* tensor = std::get_if<TensorMeta>(&recorded)) {
      encoded.emplace_back(*tensor);
    } else if (const auto* list = std::get_if<RecordedList<TensorMeta>>(&recorded)) {
      encoded.emplace_back(list->items);
    } else if (is_default(arguments[i], argument)) {
      encoded.emplace_back();
    } else {
      encoded.emplace_back(to_attribute(arguments[i], *argument.real_type()));
    }
  }
  return encoded;
}

IR make_graph(const OperatorCase& operator_case, const OperatorCall& call,
              const c10::FunctionSchema& schema, const std::vector<CallResult>& results) {
  IR ir;
  ir.model_name = operator_case.name();
  ir.pytorch_version = TORCH_VERSION;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const std::string& name = schema.arguments()[i].name();
    const std::vector<at::Tensor> tensors = tensors_of(call.arguments[i]);
    for (size_t item = 0; item < tensors.size(); ++item) {
      const bool is_list = call.arguments[i].isList();
      ir.graph_inputs.push_back(
          describe(is_list ? name + "_" + std::to_string(item) : name, tensors[item]));
    }
  }
  OpNode node;
  node.name = "call";
  node.op_type = operator_case.op_type;
  encode_arguments(schema, node_arguments(schema, call.arguments, ir.graph_inputs), node);
  for (const CallResult& result : results) {
    const size_t index = node.outputs.size();
    const std::string suffix = results.size() == 1 ? "" : "_" + std::to_string(index);
    TensorMeta meta = describe(node.name + suffix, result.tensor);
    meta.is_scalar = result.is_number;
    node.outputs.push_back(meta);
    meta.producer_node = node.name;
    meta.producer_output_idx = static_cast<int64_t>(index);
    ir.graph_outputs.push_back(std::move(meta));
  }
  ir.nodes.push_back(std::move(node));
  return ir;
}

}  // namespace

OperatorCall call_operator(const OperatorCase& operator_case) {
  const auto op = find_operator(operator_case.op_type);
  if (!op) throw Error("case '" + operator_case.name() + "': there is no such operator");
  OperatorCall call;
  call.arguments = operator_case.arguments();
  call.inputs = tensors_of(call.arguments);
  std::vector<c10::IValue> stack = call.arguments;
  {
    const c10::InferenceMode inference_mode;
    op->callBoxed(stack);
  }
  const std::vector<CallResult> results = results_in(stack);
  for (const CallResult& result : results) call.outputs.push_back(result.tensor);
  call.ir = make_graph(operator_case, call, op->schema(), results);
  return call;
}

}  // namespace torch_ir
