#include "torch_ir/exporter/meta/meta_rules.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>

#include "torch_ir/exporter/meta/cpu_probe.h"
#include "torch_ir/exporter/meta/meta_kernels.h"

namespace torch_ir {
namespace {

// The argument that `result` is an alias of, which the operator writes to; null for a new tensor.
const c10::Argument* written_argument(const c10::FunctionSchema& schema,
                                      const c10::Argument& result) {
  if (!result.alias_info() || !result.alias_info()->isWrite()) return nullptr;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.alias_info() && *argument.alias_info() == *result.alias_info()) return &argument;
  }
  return nullptr;
}

at::Tensor write_out(const at::Tensor& out, const at::Tensor& result) {
  if (at::native::resize_output(out, result.sizes()) && out.strides() != result.strides()) {
    out.as_strided_(result.sizes(), result.strides());
  }
  return out;
}

// An element for each element of `meta`, up to one a dimension.
at::Tensor shrunk_ones(const at::Tensor& meta) {
  Sizes sizes = meta.sizes().vec();
  for (int64_t& size : sizes) size = size == 0 ? 0 : 1;
  at::Tensor ones =
      at::ones(sizes, at::TensorOptions(c10::DeviceType::CPU).dtype(meta.scalar_type()));
  copy_wrapped_number(meta, ones);
  return ones;
}

}  // namespace

Sizes MetaCall::integers(const char* name) const {
  if (!has(name)) return {};
  const c10::IValue& value = at(name);
  return value.isInt() ? Sizes{value.toInt()} : value.toIntVector();
}

Sizes MetaCall::integers(const char* name, size_t count, int64_t fallback) const {
  Sizes list = integers(name);
  if (list.empty()) return Sizes(count, fallback);
  if (list.size() == 1) return Sizes(count, list[0]);
  TORCH_CHECK(list.size() == count, op_.operator_name(), ": ", name, " must have ", count,
              " elements, it has ", list.size());
  return list;
}

std::vector<at::Tensor> MetaCall::inputs() const {
  std::vector<at::Tensor> inputs;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (op_.schema().arguments()[i].is_out()) continue;
    for_each_tensor(arguments_[i], [&](const at::Tensor& t) { inputs.push_back(t); });
  }
  return inputs;
}

torch::jit::Stack deliver(const MetaCall& call, const std::vector<at::Tensor>& results) {
  const c10::FunctionSchema& schema = call.op().schema();
  TORCH_INTERNAL_ASSERT(results.size() == schema.returns().size(), call.op().operator_name(),
                        " returns ", schema.returns().size(), " values, its rule ", results.size());
  torch::jit::Stack delivered;
  for (size_t i = 0; i < results.size(); ++i) {
    const c10::Argument* out = written_argument(schema, schema.returns()[i]);
    if (out == nullptr) {
      delivered.emplace_back(results[i]);
    } else {
      delivered.emplace_back(write_out(call.tensor(out->name().c_str()), results[i]));
    }
  }
  return delivered;
}

at::Tensor meta_tensor(c10::IntArrayRef sizes, c10::ScalarType dtype, c10::MemoryFormat format) {
  return at::detail::empty_meta(sizes, dtype, format);
}

at::Tensor meta_like(const at::Tensor& source, std::optional<c10::ScalarType> dtype) {
  return at::empty_like(
      source,
      source.options().device(c10::DeviceType::Meta).dtype(dtype.value_or(source.scalar_type())));
}

std::vector<c10::ScalarType> result_dtypes(const MetaCall& call) {
  std::vector<c10::ScalarType> dtypes;
  for (const c10::IValue& result : call_on_cpu(call.op(), call.arguments(), shrunk_ones)) {
    dtypes.push_back(result.toTensor().scalar_type());
  }
  return dtypes;
}

}  // namespace torch_ir
