// Operators that give numbers, not tensors.
#include "models/operators/case_table.h"

namespace torch_ir {
namespace {

OperatorTable numbers() {
  return {
      {"sym_size.int",
       kF32 | kI64,
       {{"usual", "x[3,4], 1"}, {"negative", "x[3,4], -2", "a negative dimension"}}},
      {"sym_numel", kF32 | kI64, {{"usual", "x[3,4]"}, {"empty", "x[0,4]", "no elements"}}},
      {"sym_stride.int",
       kF32,
       {{"usual", "x[3,4], 0"}, {"transposed", "x[4,6]:transposed, 0", "columns first"}}},
      {"sym_storage_offset", kF32, {{"usual", "x[3,4]"}}},
      {"sym_is_contiguous",
       kF32,
       {{"usual", "x[3,4]"}, {"transposed", "x[4,6]:transposed", "columns first"}}},
      // Numbers in graphs are int64, float64 or bool.
      {"_local_scalar_dense",
       kRealsAndBool,
       {{"usual", "x[]"},
        {"one_element", "x[1,1]", "one element"},
        {"special", "x[]{nan}", "NaN", kFloats}}},
      {"item", kF32 | kI64 | kBool, {{"usual", "x[]"}}},
  };
}

const bool registered_scalar =
    register_operator_cases([] { return make_cases("scalar", numbers()); });

}  // namespace
}  // namespace torch_ir
