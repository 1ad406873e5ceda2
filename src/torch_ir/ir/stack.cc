#include "torch_ir/ir/stack.h"

#include <ATen/core/jit_type.h>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

Attribute number_attribute(const c10::IValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isDouble()) return value.toDouble();
  if (value.isInt()) return value.toInt();
  throw ExecutionError("expected a number, found " + value.tagKind());
}

}  // namespace

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

torch::jit::Stack make_stack(const OpNode& node, const c10::FunctionSchema& schema,
                             c10::function_ref<c10::IValue(const std::string& name)> value_of) {
  const auto input_value = [&](std::optional<size_t> input) {
    return input ? value_of(node.inputs[*input].name) : c10::IValue();
  };
  const auto number = [&](const ValueRef& ref) { return value_of(ref.name); };
  const std::vector<BoundArgument> bound = bind_node(node, schema);
  torch::jit::Stack stack;
  for (size_t i = 0; i < bound.size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (const auto* tensor = std::get_if<TensorArgument>(&bound[i])) {
      stack.push_back(input_value(tensor->input));
    } else if (const auto* list = std::get_if<TensorListArgument>(&bound[i])) {
      stack.push_back(make_tensor_list(list->inputs, takes_none(argument), input_value));
    } else if (const auto* attribute = std::get_if<AttributeArgument>(&bound[i])) {
      stack.push_back(to_ivalue(*attribute->value, argument, number));
    } else {
      stack.push_back(default_value(argument));
    }
  }
  return stack;
}

}  // namespace torch_ir
