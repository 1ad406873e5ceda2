// Converts the constants of an IR file to and from nested lists.
//
// The form is {"data": nested list, "dtype": "int64"}, with "shape" only if the list does not show
// it (a dimension after an empty one). Complex elements are [re, im].
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// Throws SerializationError, naming the constant, if `tensor` has no data or a dtype without a JSON
// form.
JsonValue constant_to_json(const std::string& name, const at::Tensor& tensor);

// The double with the fewest digits that is `value` as an element of the floating-point type
// `dtype`: 0.1 for the float32 nearest to it.
double with_fewest_digits(double value, c10::ScalarType dtype);

// Returns a contiguous tensor on the CPU. Files of the Python package have no "shape"; the hidden
// dimensions of an empty constant then come from `declared`, the shape of its weight (may be null).
// Throws SerializationError that names the place if the dtype is unknown, lists of one level differ
// in length, or an element does not fit the dtype.
at::Tensor read_constant(const JsonValue& value, const Place& place,
                         const std::vector<int64_t>* declared = nullptr);

}  // namespace torch_ir
