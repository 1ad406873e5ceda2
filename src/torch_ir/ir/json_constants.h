// Constants of an IR file: tensors as nested lists.
//
// The form is {"data": nested list, "dtype": "int64"}, with "shape" only where the list can not
// tell it (a dimension behind an empty one). Complex elements are [re, im]. Used by what reads and
// writes IR files.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// Throws SerializationError, naming the constant, when `tensor` has no data or a dtype without a
// JSON form.
JsonValue constant_to_json(const std::string& name, const at::Tensor& tensor);

// The double with the fewest digits that is `value` as an element of the floating-point type
// `dtype`: 0.1 for the float32 nearest to it. Throws SerializationError for a dtype whose elements
// are not floats.
double with_fewest_digits(double value, c10::ScalarType dtype);

// A contiguous tensor on the CPU. Files of the Python package say no shape: of an empty constant,
// the dimensions that its list can not show are those of `declared`, the shape of the weight that
// it is (null where there is none). Throws SerializationError that names the place when the dtype
// is unknown, lists of one level differ in length, or an element is not one of the dtype.
at::Tensor read_constant(const JsonValue& value, const Place& place,
                         const std::vector<int64_t>* declared = nullptr);

}  // namespace torch_ir
