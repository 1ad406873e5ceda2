#include "torch_ir/ir/ivalue.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/jit_type.h>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

using c10::TypeKind;

// Thrown inside a conversion, which does not know the argument's name.
struct DoesNotFit {};

c10::IValue convert(const Attribute& attribute, const c10::Type& type);

std::optional<c10::Scalar> as_scalar(const Attribute& attribute) {
  if (const auto* value = attribute.get_if<bool>()) return c10::Scalar(*value);
  if (const auto* value = attribute.get_if<int64_t>()) return c10::Scalar(*value);
  if (const auto* value = attribute.get_if<double>()) return c10::Scalar(*value);
  if (const auto* value = attribute.get_if<std::complex<double>>()) {
    return c10::Scalar(c10::complex<double>(value->real(), value->imag()));
  }
  return std::nullopt;
}

c10::Scalar to_scalar(const Attribute& attribute) {
  if (auto scalar = as_scalar(attribute)) return *scalar;
  throw DoesNotFit();
}

// Python passes a number for a tensor as a 0-d tensor that does not take part in type promotion.
c10::IValue to_wrapped_number(const Attribute& attribute) {
  at::Tensor tensor = c10::scalar_to_tensor(to_scalar(attribute));
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

template <class T>
const T& get(const Attribute& attribute) {
  if (const T* value = attribute.get_if<T>()) return *value;
  throw DoesNotFit();
}

c10::IValue to_list(const Attribute& attribute, const c10::Type& type) {
  c10::TypePtr element = type.castRaw<c10::ListType>()->getElementType();
  // Boxed kernels read a SymInt[] whose values are known as an int[].
  if (element->kind() == TypeKind::SymIntType) element = c10::IntType::get();
  c10::impl::GenericList list(element);
  for (const Attribute& item : get<Attribute::List>(attribute)) {
    list.push_back(convert(item, *element));
  }
  return list;
}

// Enumerations travel as integers, in lists too, so the schema's nominal type decides.
c10::IValue convert(const Attribute& attribute, const c10::Type& type) {
  switch (type.kind()) {
    case TypeKind::OptionalType:
      if (attribute.is_none()) return {};
      return convert(attribute, *type.castRaw<c10::OptionalType>()->getElementType());
    case TypeKind::BoolType:
      return get<bool>(attribute);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return get<int64_t>(attribute);
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      if (const auto* integer = attribute.get_if<int64_t>()) return static_cast<double>(*integer);
      return get<double>(attribute);
    case TypeKind::NumberType:
      return to_scalar(attribute);
    case TypeKind::ComplexType: {
      const auto& value = get<std::complex<double>>(attribute);
      return c10::complex<double>(value.real(), value.imag());
    }
    case TypeKind::StringType:
      return get<std::string>(attribute);
    case TypeKind::ScalarTypeType:
      return get<c10::ScalarType>(attribute);
    case TypeKind::LayoutType:
      return get<c10::Layout>(attribute);
    case TypeKind::MemoryFormatType:
      return get<c10::MemoryFormat>(attribute);
    case TypeKind::DeviceObjType:
      return get<c10::Device>(attribute);
    case TypeKind::TensorType:
      return to_wrapped_number(attribute);
    case TypeKind::ListType:
      return to_list(attribute, type);
    default:
      if (attribute.is_none()) return {};
      throw DoesNotFit();
  }
}

// Schemas lose the nominal type of lists (a ScalarType[] is an int[]), but no ATen operator has
// one; only the element count remains, as in `int[2] stride`, where one number stands for all.
Attribute expanded_to_list(const Attribute& attribute, const c10::Argument& argument) {
  const bool is_number =
      attribute.get_if<int64_t>() || attribute.get_if<double>() || attribute.get_if<bool>();
  if (!is_number || !argument.N()) return attribute;
  return Attribute(Attribute::List(static_cast<size_t>(*argument.N()), attribute));
}

const c10::Type& without_optional(const c10::Type& type) {
  const auto* optional = type.castRaw<c10::OptionalType>();
  return optional == nullptr ? type : *optional->getElementType();
}

Attribute parse_string(const std::string& value, const c10::Type& type) {
  const std::string_view prefix = "torch.";
  const std::string_view name =
      value.starts_with(prefix) ? std::string_view(value).substr(prefix.size()) : value;
  switch (type.kind()) {
    case TypeKind::ScalarTypeType:
      if (const auto dtype = find_dtype(name)) return *dtype;
      break;
    case TypeKind::LayoutType:
      if (const auto layout = find_layout(name)) return *layout;
      break;
    case TypeKind::MemoryFormatType:
      if (const auto format = find_memory_format(name)) return *format;
      break;
    case TypeKind::DeviceObjType:
      try {
        return c10::Device(value);
      } catch (const c10::Error&) {
        break;  // Not a device: to_ivalue says so with the argument's name.
      }
    default:
      break;
  }
  return value;
}

Attribute parse_complex(const Attribute::List& items) {
  if (items.size() == 2) {
    const auto real = as_scalar(items[0]);
    const auto imag = as_scalar(items[1]);
    if (real && imag && !real->isComplex() && !imag->isComplex()) {
      return std::complex<double>(real->toDouble(), imag->toDouble());
    }
  }
  return items;
}

bool takes_complex(const c10::Type& type) {
  return type.kind() == TypeKind::NumberType || type.kind() == TypeKind::ComplexType ||
         type.kind() == TypeKind::TensorType;
}

Attribute with_type(Attribute attribute, const c10::Type& nominal_type) {
  const c10::Type& type = without_optional(nominal_type);
  if (const auto* value = attribute.get_if<std::string>()) return parse_string(*value, type);
  const auto* items = attribute.get_if<Attribute::List>();
  if (items == nullptr) return attribute;
  if (takes_complex(type)) return parse_complex(*items);
  if (const auto* list = type.castRaw<c10::ListType>()) {
    Attribute::List typed;
    typed.reserve(items->size());
    for (const Attribute& item : *items) typed.push_back(with_type(item, *list->getElementType()));
    return typed;
  }
  return attribute;
}

}  // namespace

c10::IValue to_ivalue(const Attribute& attribute, const c10::Argument& argument) {
  const c10::Type& type = *argument.real_type();
  try {
    Attribute typed = with_type(attribute, type);
    if (without_optional(type).kind() == TypeKind::ListType) {
      typed = expanded_to_list(typed, argument);
    }
    return convert(typed, type);
  } catch (const DoesNotFit&) {
    throw ValidationError("argument '" + argument.name() + "' must be of type " + type.str() +
                          ", not " + attribute_text(attribute));
  }
}

Attribute to_attribute(const c10::IValue& value, const c10::Type& nominal_type) {
  if (value.isNone()) return {};
  const c10::Type& type = without_optional(nominal_type);
  switch (type.kind()) {
    case TypeKind::ScalarTypeType:
      return value.toScalarType();
    case TypeKind::LayoutType:
      return value.toLayout();
    case TypeKind::MemoryFormatType:
      return value.toMemoryFormat();
    default:
      break;
  }
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isSymInt()) return value.toSymInt().guard_int(__FILE__, __LINE__);
  if (value.isDouble()) return value.toDouble();
  if (value.isComplexDouble()) {
    const c10::complex<double> number = value.toComplexDouble();
    return std::complex<double>(number.real(), number.imag());
  }
  if (value.isString()) return value.toStringRef();
  if (value.isDevice()) return value.toDevice();
  if (value.isList()) {
    const auto* list = type.castRaw<c10::ListType>();
    const c10::Type& element = list == nullptr ? type : *list->getElementType();
    Attribute::List items;
    for (const c10::IValue& item : value.toListRef()) items.push_back(to_attribute(item, element));
    return items;
  }
  throw ConversionError("a value of type " + nominal_type.str() + " cannot be an attribute");
}

Attribute with_argument_type(Attribute attribute, const c10::Argument& argument) {
  return with_type(std::move(attribute), *argument.real_type());
}

}  // namespace torch_ir
