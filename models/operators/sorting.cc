// Sorting, selecting by rank, and finding what is unique.
#include "models/operators/families.h"

namespace torch_ir {
namespace {

OperatorTable sorting() {
  const auto picked = CaseProperty::kPickedValues;
  const std::vector<CaseRow> sort_rows = {
      {"last", "x[3,7]:distinct"},
      {"first", "x[5,3]:distinct, 0", "along the first dimension", kF32 | kBF16 | kI64},
      {"descending", "x[3,7]:distinct, -1, True", "descending"},
      {"negative_dim", "x[2,4,3]:distinct, -2", "a negative dimension", kF32 | kI64},
      {"ties", "x[2,5]{3,1,3,1,2}", "equal elements in any order"},
      {"with_nan", "x[2,5]:with_nan", "NaN is the largest", kFloats},
      {"with_nan_descending", "x[2,5]:with_nan, -1, True", "NaN goes first", kFloats},
      {"infinities", "x[5]{inf,1,-inf,0,-0}", "infinities, signed zeros", kFloats},
      {"zero_dim", "x[]", "0-d", kF32 | kI64},
      {"empty", "x[0,3], 0", "no elements", kF32 | kI64},
      {"long", "x[1,300]:distinct", "more than short sorts take", kF32 | kI64},
      {"transposed", "x[4,6]:distinct:transposed", "columns first in memory", kF32}};
  return {
      {.op = "sort", .dtypes = kReals, .rows = sort_rows, .property = picked},
      {.op = "sort",
       .dtypes = kBool,
       .rows = {{"ties", "x[2,5]", "equal elements in any order"}},
       .property = picked},
      {"sort.stable",
       kRealsAndBool,
       {{"usual", "x[3,7], stable=True", "equal elements stay in order"},
        {"descending", "x[2,6]{3,1,3,1,2,2}, stable=True, dim=-1, descending=True",
         "equal elements stay in order, descending"}}},
      {.op = "argsort", .dtypes = kReals, .rows = sort_rows, .property = picked},
      {"argsort.stable",
       kReals,
       {{"usual", "x[2,6]{3,1,3,1,2,2}, stable=True", "equal elements stay in order"}}},
      {"msort", kReals, {{"usual", "x[5,3]"}}},
      {.op = "topk",
       .dtypes = kReals,
       .rows = {{"usual", "x[3,7]:distinct, 3"},
                {"smallest", "x[3,7]:distinct, 2, 1, False", "the smallest"},
                {"first_dim", "x[7,3]:distinct, 2, 0", "along the first dimension", kF32 | kI64},
                {"all", "x[2,5]:distinct, 5", "all of them"},
                {"none", "x[2,5], 0", "none", kF32 | kI64},
                {"ties", "x[2,5]{3,1,3,1,3}, 2", "equal elements: any of them"},
                {"with_nan", "x[2,5]:with_nan, 2", "NaN is the largest", kFloats},
                {"zero_dim", "x[], 1", "0-d", kF32},
                {"long", "x[1,300]:distinct, 5", "few of many", kF32}},
       .property = picked},
      {.op = "kthvalue",
       .dtypes = kReals,
       .rows = {{"usual", "x[3,7]:distinct, 3"},
                {"keepdim", "x[7,3]:distinct, 2, 0, True", "it stays"},
                {"ties", "x[2,5]{3,1,3,1,2}, 4", "equal elements: any of them"}},
       .property = picked},
      {"_unique2",
       kRealsAndBool,
       {{"usual", "x[8]:0..4"}, {"all", "x[2,4]:0..4, True, True, True", "positions and counts"}}},
      {"_unique", kReals, {{"usual", "x[8]:0..4"}}},
      {"unique_dim", kReals, {{"usual", "x[4,2]{1,2,0,1,1,2,0,0}, 0, True, True, True", "rows"}}},
      {"unique_consecutive",
       kRealsAndBool,
       {{"usual", "x[8]{1,1,0,0,0,1,1,1}"},
        {"all", "x[8]{1,1,0,0,0,1,1,1}, True, True", "positions and counts"}}},
  };
}

const bool registered_sorting =
    register_operator_cases([] { return make_cases("sorting", sorting()); });

}  // namespace
}  // namespace torch_ir
