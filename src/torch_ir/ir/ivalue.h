// Attributes to and from the values of LibTorch's operators.
//
// The type of a schema argument decides: the attribute "bfloat16" of a `ScalarType?` argument is a
// dtype, a number where the schema says Tensor becomes a wrapped number as Python makes it, an int
// given for a float is that float.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include "torch_ir/ir/attribute.h"

namespace torch_ir {

// `attribute` as a value of `argument`'s type. Throws ValidationError when it can not be one,
// naming the argument, its type and the value.
c10::IValue to_ivalue(const Attribute& attribute, const c10::Argument& argument);

// `value`, an argument of type `type` that holds no tensor, as an attribute. Throws
// ConversionError for a type that has no attribute form (a generator, a stream, an object).
Attribute to_attribute(const c10::IValue& value, const c10::Type& type);

// `attribute` as JSON gives it (strings, numbers, lists) with the type that `argument` asks for:
// strings become dtypes, layouts, memory formats and devices, [re, im] becomes complex. Anything
// that does not fit is left as it is, for to_ivalue to refuse.
Attribute with_argument_type(Attribute attribute, const c10::Argument& argument);

}  // namespace torch_ir
