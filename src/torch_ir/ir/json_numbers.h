// Floats as JSON text: as Python writes them, and as short as their dtype allows.
//
// Used by everything that writes numbers into IR files. The text reads back, through double, as
// the same value.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

namespace torch_ir {

// Python's repr(value), with JSON's words: "1.0", "0.1", "1e-05", "1e+16", "-0.0", "NaN",
// "Infinity", "-Infinity".
std::string python_float(double value);

// `value`, an element of a tensor of the floating-point type `dtype`, with the fewest digits that
// give the same element back: "0.1" for the float32 nearest to 0.1. Throws SerializationError for
// a dtype whose elements are not floats.
std::string python_float(double value, c10::ScalarType dtype);

}  // namespace torch_ir
