#include "torch_ir/exporter/pt2/call_stack.h"

#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <variant>

#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

using TensorMaker = std::function<at::Tensor(const std::string& name, const ValueMeta& meta)>;

class ArgumentMaker {
 public:
  ArgumentMaker(const GraphBuilder& builder, const TensorMaker& make_tensor)
      : builder_(builder), make_tensor_(make_tensor) {}

  c10::IValue make(const ExportedArgument* given, const c10::Argument& argument) const {
    if (given == nullptr) return argument.default_value().value_or(c10::IValue());
    if (const auto* ref = std::get_if<ValueRef>(&given->value)) return tensor(*ref);
    if (const auto* list = std::get_if<ValueList>(&given->value)) return make_list(*list, argument);
    const auto& attribute = std::get<Attribute>(given->value);
    return to_ivalue(with_values(attribute, [&](const ValueRef& ref) { return number(ref); }),
                     argument);
  }

 private:
  at::Tensor tensor(const ValueRef& ref) const {
    return make_tensor_(ref.name, *builder_.find(ref.name));
  }

  Attribute number(const ValueRef& ref) const {
    switch (builder_.find(ref.name)->dtype) {
      case c10::ScalarType::Bool:
        return true;
      case c10::ScalarType::Double:
        return 1.0;
      default:
        return 1;
    }
  }

  c10::IValue make_list(const ValueList& values, const c10::Argument& argument) const {
    const auto* type = argument.type()->castRaw<c10::ListType>();
    c10::impl::GenericList list(type == nullptr ? c10::TypePtr(c10::TensorType::get())
                                                : type->getElementType());
    for (const auto& value : values) {
      list.push_back(value ? c10::IValue(tensor(*value)) : c10::IValue());
    }
    return list;
  }

  const GraphBuilder& builder_;
  const TensorMaker& make_tensor_;
};

}  // namespace

torch::jit::Stack make_stack(const ExportedNode& node, const c10::FunctionSchema& schema,
                             const GraphBuilder& builder, const TensorMaker& make_tensor) {
  const ArgumentMaker maker(builder, make_tensor);
  torch::jit::Stack stack;
  for (const c10::Argument& argument : schema.arguments()) {
    const auto given = std::ranges::find(node.arguments, argument.name(), &ExportedArgument::name);
    stack.push_back(maker.make(given == node.arguments.end() ? nullptr : &*given, argument));
  }
  return stack;
}

}  // namespace torch_ir
