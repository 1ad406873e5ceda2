#include "torch_ir/operators/operator_traits.h"

#include <ATen/core/List.h>

#include <string_view>
#include <unordered_set>

namespace torch_ir {
namespace {

// Operators with a kernel for the CPU that only calls others.
const std::unordered_set<std::string_view>& composites_with_cpu_kernel() {
  static const std::unordered_set<std::string_view> table = {
      "aten::relu",
      "aten::relu_",
  };
  return table;
}

const std::unordered_set<std::string_view>& empty_makers() {
  static const std::unordered_set<std::string_view> table = {
      "aten::empty",         "aten::empty_like", "aten::empty_permuted",
      "aten::empty_strided", "aten::new_empty",  "aten::new_empty_strided",
  };
  return table;
}

const std::unordered_set<std::string_view>& memory_changers() {
  static const std::unordered_set<std::string_view> table = {
      "aten::resize_", "aten::resize_as_", "aten::set_", "aten::set_data", "aten::_resize_output_",
  };
  return table;
}

// `aten::index` has a result of unknown size only with a mask.
bool indexes_by_numbers(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const std::string& name = op.schema().name();
  if (name != "aten::index" && name != "aten::_unsafe_index") return false;
  const size_t first = stack.size() - op.schema().arguments().size();
  const c10::IValue& indices = stack[first + 1];
  if (!indices.isList()) return false;
  for (const c10::IValue& index : indices.toListRef()) {
    if (!index.isTensor() || !index.toTensor().defined()) continue;
    const c10::ScalarType dtype = index.toTensor().scalar_type();
    if (dtype == c10::kBool || dtype == c10::kByte) return false;
  }
  return true;
}

}  // namespace

bool may_be_composite(const c10::OperatorHandle& op) {
  if (composites_with_cpu_kernel().contains(op.schema().name())) return true;
  return !op.hasKernelForDispatchKey(c10::DispatchKey::CPU);
}

bool makes_empty(const c10::OperatorHandle& op) {
  return empty_makers().contains(op.schema().name());
}

bool depends_on_data(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  return op.hasTag(at::Tag::data_dependent_output) ||
         (op.hasTag(at::Tag::dynamic_output_shape) && !indexes_by_numbers(op, stack));
}

bool changes_memory(const c10::OperatorHandle& op) {
  return memory_changers().contains(op.schema().name());
}

}  // namespace torch_ir
