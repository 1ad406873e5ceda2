#include "torch_ir/executor/plan_outputs.h"

#include <c10/core/InferenceMode.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <typeinfo>
#include <utility>

namespace torch_ir {
namespace {

bool belongs_to_plan(const Program& program, const at::Tensor& tensor) {
  return std::any_of(program.constants.begin(), program.constants.end(),
                     [&](const at::Tensor& constant) {
                       return tensor.is_same(constant) || tensor.is_alias_of(constant);
                     });
}

// An ordinary tensor over the memory of `tensor`.
at::Tensor without_inference(const at::Tensor& tensor) {
  const c10::TensorImpl& source = *tensor.unsafeGetTensorImpl();
  // Anything else (sparse, quantized) holds more than this could carry over.
  const bool is_plain = typeid(source) == typeid(c10::TensorImpl) && tensor.has_storage();
  if (!tensor.is_inference() || !is_plain) return tensor;
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(tensor.storage()), source.key_set(), source.dtype());
  c10::TensorImpl& impl = *result.unsafeGetTensorImpl();
  impl.set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  if (source.is_wrapped_number()) impl.set_wrapped_number(true);
  return result;
}

}  // namespace

void release_to_caller(const Program& program, std::vector<at::Tensor>& outputs) {
  // A caller inside InferenceMode gets what eager gives there.
  const bool keep_inference = c10::InferenceMode::is_enabled();
  const std::vector<at::Tensor> values = std::exchange(outputs, {});
  outputs.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto first = std::find_if(values.begin(), values.begin() + static_cast<ptrdiff_t>(i),
                                    [&](const at::Tensor& other) {
                                      return other.is_same(values[i]);
                                    });
    const auto first_index = static_cast<size_t>(first - values.begin());
    if (first_index < i) {
      outputs.push_back(outputs[first_index]);
    } else if (program.outputs[i].may_be_constant && belongs_to_plan(program, values[i])) {
      outputs.push_back(values[i].clone());
    } else {
      outputs.push_back(keep_inference ? values[i] : without_inference(values[i]));
    }
  }
}

}  // namespace torch_ir
