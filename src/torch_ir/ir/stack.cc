#include "torch_ir/ir/stack.h"

#include <ATen/core/jit_type.h>
#include <fmt/format.h>

#include <functional>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

Attribute number_attribute(const c10::IValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isDouble()) return value.toDouble();
  if (value.isInt()) return value.toInt();
  throw ExecutionError("expected a number, found " + value.tagKind());
}

void append_values(const c10::IValue& value, std::vector<c10::IValue>& values) {
  if (!value.isList()) {
    values.push_back(value);
    return;
  }
  for (const c10::IValue& item : value.toListRef()) append_values(item, values);
}

bool is_absent(const c10::IValue& value) {
  return value.isNone() || (value.isTensor() && !value.toTensor().defined());
}

}  // namespace

std::vector<c10::IValue> flat_values(const torch::jit::Stack& stack) {
  std::vector<c10::IValue> values;
  for (const c10::IValue& value : stack) append_values(value, values);
  return values;
}

std::vector<c10::IValue> output_values(const torch::jit::Stack& results, size_t num_outputs) {
  std::vector<c10::IValue> values = flat_values(results);
  if (values.size() != num_outputs) std::erase_if(values, is_absent);
  const size_t num_made = values.size();
  if (values.size() != num_outputs) std::erase_if(values, std::not_fn(&c10::IValue::isTensor));
  if (values.size() == num_outputs) return values;
  throw ExecutionError(fmt::format("it returned {} value{}, expected {}", num_made,
                                   num_made == 1 ? "" : "s", num_outputs));
}

c10::IValue default_value(const c10::Argument& argument) {
  return argument.default_value().value_or(c10::IValue());
}

bool takes_none(const c10::Argument& argument) {
  const auto* list = argument.type()->castRaw<c10::ListType>();
  return list != nullptr && list->getElementType()->kind() == c10::TypeKind::OptionalType;
}

c10::IValue to_ivalue(const Attribute& attribute, const c10::Argument& argument,
                      c10::function_ref<c10::IValue(const ValueRef& ref)> value_of) {
  const auto number = [&](const ValueRef& ref) { return number_attribute(value_of(ref)); };
  return to_ivalue(with_values(attribute, number), argument);
}

}  // namespace torch_ir
