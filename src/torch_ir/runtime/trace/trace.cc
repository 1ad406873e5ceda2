#include "torch_ir/runtime/trace/trace.h"

#include <ATen/TensorGeometry.h>
#include <c10/util/accumulate.h>

#include "torch_ir/operators/operator_effects.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {

size_t bytes_of(const TraceTensor& tensor) {
  return static_cast<size_t>(c10::multiply_integers(tensor.sizes)) * c10::elementSize(tensor.dtype);
}

bool is_contiguous(const TraceTensor& tensor) {
  return at::geometry_is_contiguous(tensor.sizes, tensor.strides);
}

bool are_alike(const TraceTensor& a, const TraceTensor& b) {
  return a.sizes == b.sizes && a.strides == b.strides;
}

bool has_layout(const at::Tensor& tensor, const TraceTensor& traced) {
  return tensor.sizes() == traced.sizes && tensor.strides() == traced.strides &&
         tensor.storage_offset() == traced.offset && tensor.scalar_type() == traced.dtype;
}

std::string TraceCall::name() const { return fused != nullptr ? fused->name : op.schema().name(); }

std::vector<TensorId> tensors_of(const TraceArgument& argument) {
  std::vector<TensorId> tensors;
  for_each_id<TensorId>(argument, [&](TensorId tensor) { tensors.push_back(tensor); });
  return tensors;
}

std::vector<TensorId> tensors_of(const TraceCall& call) {
  std::vector<TensorId> tensors;
  for (const TraceArgument& argument : call.arguments) {
    for (const TensorId tensor : tensors_of(argument)) tensors.push_back(tensor);
  }
  return tensors;
}

std::vector<TensorId> tensors_and_outputs_of(const TraceCall& call) {
  std::vector<TensorId> tensors = tensors_of(call);
  tensors.insert(tensors.end(), call.outputs.begin(), call.outputs.end());
  return tensors;
}

bool may_be_true(const TraceCall& call, std::string_view name) {
  const auto flag = call.op.schema().argumentIndexWithName(name);
  if (!flag) return true;
  const auto* value = std::get_if<c10::IValue>(&call.arguments[static_cast<size_t>(*flag)]);
  return value == nullptr || !value->isBool() || value->toBool();
}

bool writes_argument(const TraceCall& call, size_t position) {
  if (call.fused != nullptr) return false;
  const c10::Argument& argument = call.op.schema().arguments()[position];
  if (argument.alias_info() != nullptr) return is_write(*argument.alias_info());
  if (!argument.name().starts_with("running_") || tensors_of(call.arguments[position]).empty()) {
    return false;
  }
  const std::string_view condition = facts_of(call.op).updates_statistics;
  return !condition.empty() && may_be_true(call, condition);
}

bool writes_any_argument(const TraceCall& call) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (writes_argument(call, i)) return true;
  }
  return false;
}

}  // namespace torch_ir
