// Converts attributes to and from the values of LibTorch's operators.
//
// The type of the schema argument decides: "bfloat16" for a `ScalarType?` is a dtype, a number for
// a Tensor becomes a wrapped number as Python makes it, an int for a float becomes a float.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include "torch_ir/ir/attribute.h"

namespace torch_ir {

// Converts `attribute` to `argument`'s type. Throws ValidationError, naming the argument, its type
// and the value, if it does not fit.
c10::IValue to_ivalue(const Attribute& attribute, const c10::Argument& argument);

// Converts `value`, an argument of type `type` that holds no tensor. Throws ConversionError for a
// type without an attribute form (a generator, a stream, an object).
Attribute to_attribute(const c10::IValue& value, const c10::Type& type);

// Gives an `attribute` read from JSON the type that `argument` asks for: strings become dtypes,
// layouts, memory formats and devices, [re, im] becomes complex. What does not fit stays unchanged;
// to_ivalue rejects it.
Attribute with_argument_type(Attribute attribute, const c10::Argument& argument);

}  // namespace torch_ir
