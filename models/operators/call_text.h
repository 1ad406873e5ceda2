// The arguments of a call as text, as a row of a table has them: Python's notation, with recipes
// for tensors. The schema of the operator says what each is.
//
//   x[2,4,8,8], x[6,2,3,3], None, stride=[2,1], groups=2, padding='same', dtype=float16
//
// A recipe is a dtype, a shape, and what else is said of it:
//
//   x[2,3]                 of the row's dtype, seeded values of the usual range
//   x[]:0.1..4             0-d, in [0.1, 4)
//   int64[3]{0,-1,2}       these values, as often as the shape needs them
//   x[4,6]:transposed      the last two dimensions swapped in memory
//
// Other words after a colon: `strided` (every second element of the last dimension, from the second
// on), `channels_last`, `expanded` (the first dimension has stride 0), `distinct` (no two elements
// are equal: a permutation of evenly spaced values), `special` (NaN, infinities, signed zeros,
// limits; the limits of integers), `denormal`, `with_nan` (the second element is one), `hermitian`
// (positive definite matrices), `lower` and `upper` (triangular matrices that can be solved).
// `x` alone is the row's dtype, as an attribute; `real` the dtype of its real part.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// One value for each argument of `schema`. Tensors depend on `case_name` and the name of their
// argument. Throws Error, naming the case, for text that can not be read or does not fit.
std::vector<c10::IValue> read_arguments(std::string_view text, const c10::FunctionSchema& schema,
                                        c10::ScalarType dtype, const std::string& case_name);

}  // namespace torch_ir
