#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

bool has_layout(const at::Tensor& tensor, const TraceTensor& traced) {
  return tensor.sizes() == traced.sizes && tensor.strides() == traced.strides &&
         tensor.storage_offset() == traced.offset && tensor.scalar_type() == traced.dtype;
}

std::string TraceCall::name() const {
  return fused != nullptr ? fused->name() : op.schema().name();
}

bool writes_in_place(const TraceCall& call) {
  return call.fused == nullptr && call.op.schema().is_mutable();
}

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

bool writes_argument(const TraceCall& call, size_t position) {
  const c10::AliasInfo* info = call.op.schema().arguments()[position].alias_info();
  if (info == nullptr) return false;
  if (info->isWrite()) return true;
  for (const c10::AliasInfo& contained : info->containedTypes()) {
    if (contained.isWrite()) return true;
  }
  return false;
}

}  // namespace torch_ir
