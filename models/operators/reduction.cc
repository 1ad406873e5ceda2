// Reductions and scans: sums, extremes, means, norms, along all or some dimensions.
#include <algorithm>
#include <iterator>

#include "models/operators/families.h"

namespace torch_ir {
namespace {

// Of a tensor as a whole.
const std::vector<CaseRow>& whole_rows() {
  static const std::vector<CaseRow> rows = {
      {"usual", "x[3,7]:distinct:domain"},
      {"zero_dim", "x[]:domain", "0-d", kF32},
      {"one_element", "x[1,1]:domain", "one element", kF32},
      {"long", "x[2,301]:domain", "more than the vectors of a loop, and a rest", kF32 | kBF16},
      {"transposed", "x[4,6]:domain:transposed", "columns first in memory", kF32},
      {"strided", "x[3,5]:domain:strided", "every second element", kF32},
      {"with_nan", "x[3,4]:domain:with_nan", "a NaN inside", kFloats},
      {"infinities", "x[4]{1,inf,2,-inf}", "infinities of both signs", kFloats},
  };
  return rows;
}

// Those that have a result for no elements.
const CaseRow kEmpty = {"empty", "x[0]", "no elements", kF32 | kI64};

// Along one dimension, which must be given.
const std::vector<CaseRow>& dim_rows() {
  static const std::vector<CaseRow> rows = {
      {"last", "x[3,7]:distinct:domain, 1"},
      {"first", "x[5,4]:distinct:domain, 0", "along the first dimension", kF32 | kI64},
      {"middle", "x[2,5,3]:distinct:domain, 1", "along a dimension in the middle",
       kF32 | kF16 | kI32},
      {"negative", "x[2,5,3]:distinct:domain, -3", "a negative dimension", kF32},
      {"keepdim", "x[3,7]:distinct:domain, 1, True", "the dimension stays", kF32 | kI64},
      {"zero_dim", "x[]:domain, 0", "0-d", kF32},
      {"one_element", "x[4,1]:domain, 1", "of one element each", kF32},
      {"empty_result", "x[0,4]:domain, 1", "no rows", kF32},
      {"transposed", "x[4,6]:distinct:domain:transposed, 0", "columns first in memory", kF32},
      {"with_nan", "x[3,4]:domain:with_nan, 1", "a NaN inside", kFloats},
      {"long", "x[2,301]:domain, 1", "more than the vectors of a loop, and a rest", kF32 | kBF16},
  };
  return rows;
}

// Along a list of dimensions.
const std::vector<CaseRow>& dims_rows() {
  static const std::vector<CaseRow> rows = {
      {"last", "x[3,7]:domain, [1]"},
      {"first", "x[5,4]:domain, [0]", "along the first dimension", kF32 | kI64},
      {"several", "x[2,3,4,5]:domain, [0,2]", "two dimensions that are no neighbours", kF32 | kF16},
      {"negative", "x[2,3,4]:domain, [-1,-2]", "negative dimensions", kF32 | kI64},
      {"every", "x[2,3,4]:domain, [0,1,2]", "every dimension", kF32},
      {"keepdim", "x[2,3,4]:domain, [1,2], True", "the dimensions stay", kF32 | kF16},
      {"zero_dim", "x[]:domain, [0]", "0-d", kF32},
      {"empty_result", "x[0,4]:domain, [1]", "no rows", kF32},
      {"transposed", "x[4,6]:domain:transposed, [0]", "columns first in memory", kF32},
      {"channels_last", "x[2,3,4,4]:domain:channels_last, [2,3]", "channels last in memory", kF32},
      {"with_nan", "x[3,4]:domain:with_nan, [1]", "a NaN inside", kFloats},
      {"long", "x[2,301]:domain, [1]", "more than the vectors of a loop, and a rest", kF32 | kBF16},
  };
  return rows;
}

const CaseRow kNoDims = {"no_dims", "x[2,3]:domain, []", "an empty list is every dimension",
                         kF32 | kI64};
const CaseRow kNone = {"none", "x[2,3]:domain, None", "no list is every dimension", kF32 | kI64};
const CaseRow kEmptyDim = {"empty_dim", "x[3,0], [1]", "no elements along it", kF32 | kI64};
const CaseRow kEmptyOneDim = {"empty_dim", "x[3,0], 1", "no elements along it", kF32 | kI64};

OperatorTable sums() {
  const std::vector<CaseRow> to_dtype = {
      {"to_float64", "x[3,7], dtype=float64", "in another dtype", kF32 | kI32 | kBF16}};
  const std::vector<CaseRow> dim_to_dtype = {
      {"to_float64", "x[3,7], 1, dtype=float64", "in another dtype", kF32 | kI32 | kBF16}};
  const std::vector<CaseRow> dims_to_dtype = {
      {"to_float64", "x[3,7], [1], dtype=float64", "in another dtype", kF32 | kI32 | kBF16}};
  const auto sum_rows = with(with(whole_rows(), to_dtype), {kEmpty});
  const auto sum_dims = with(with(dims_rows(), dims_to_dtype), {kNoDims, kNone, kEmptyDim});
  return {
      {.op = "sum", .dtypes = kAll, .rows = sum_rows, .domain = "-1..1"},
      {.op = "sum.dim_IntList", .dtypes = kAll, .rows = sum_dims, .domain = "-1..1"},
      {.op = "nansum",
       .dtypes = kReals,
       .rows = {{"usual", "x[3,7]"},
                {"with_nan", "x[3,4]:with_nan", "a NaN", kFloats},
                {"dims", "x[2,3,4]:with_nan, [0,2], True", "two dimensions", kFloats}}},
      {.op = "mean", .dtypes = kInexact, .rows = with(with(whole_rows(), to_dtype), {kEmpty})},
      {.op = "mean.dim", .dtypes = kInexact, .rows = sum_dims},
      {.op = "nanmean",
       .dtypes = kFloats,
       .rows = {{"with_nan", "x[3,4]:with_nan", "a NaN"},
                {"dims", "x[2,3,4]:with_nan, [0,2], True", "two dimensions"}}},
      {.op = "prod",
       .dtypes = kAll,
       .rows = with(with(whole_rows(), to_dtype), {kEmpty}),
       .domain = "0.5..1.5"},
      {.op = "prod.dim_int",
       .dtypes = kAll,
       .rows = with(with(dim_rows(), dim_to_dtype), {kEmptyOneDim}),
       .domain = "0.5..1.5"},
      {.op = "var",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7]"},
                {"biased", "x[3,7], False", "by n, not n - 1"},
                {"with_nan", "x[3,4]:with_nan", "a NaN", kFloats},
                {"one_element", "x[1]", "0 / 0"},
                {"empty", "x[0]", "no elements"}}},
      {.op = "var.dim",
       .dtypes = kInexact,
       .rows = with(dims_rows(), {{"biased", "x[3,7], [1], False", "by n, not n - 1"}})},
      {.op = "var.correction",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7]"},
                {"dims", "x[2,3,4], [0,-1], correction=0, keepdim=True", "two dimensions, by n"},
                {"two", "x[3,7], [1], correction=2", "by n - 2"},
                {"fraction", "x[3,7], [1], correction=0.5", "by n - 0.5"},
                {"too_large", "x[3,2], [1], correction=2", "by 0"},
                {"offset", "x[3,7]:1000..1001, [1]", "far from 0", kWide}}},
      {.op = "std",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7]"}, {"biased", "x[3,7], False", "by n, not n - 1"}}},
      {.op = "std.dim",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7], [1]"},
                {"several", "x[2,3,4], [0,2], False, True", "two dimensions, by n"}}},
      {.op = "std.correction",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7]"}, {"dims", "x[2,3,4], [1,2], correction=0", "by n"}}},
      {.op = "var_mean.correction",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7]"},
                {"dims", "x[2,3,4], [1,2], correction=0, keepdim=True", "by n"}}},
      {.op = "std_mean.correction",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7]"}, {"dims", "x[2,3,4], [1,2], correction=0", "by n"}}},
      {.op = "logsumexp",
       .dtypes = kFloats,
       .rows = with(dims_rows(),
                    {{"large", "x[3,4]:80..90, [1]", "sums that overflow", kWide},
                     {"infinities", "x[2,3]{-inf,-inf,-inf,inf,1,2}, [1]", "infinities"}})},
      {.op = "count_nonzero",
       .dtypes = kAll,
       .rows = {{"usual", "x[3,7]"}, {"dim", "x[3,7], 1", "along a dimension"}}},
      {.op = "count_nonzero.dim_IntList",
       .dtypes = kAll,
       .rows = {{"dims", "x[2,3,4], [0,2]", "two dimensions"}}},
      {.op = "trace",
       .dtypes = kNumbers,
       .rows = {{"usual", "x[4,4]"}, {"wide", "x[3,5]", "not square"}}},
      {.op = "linalg_vector_norm",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7]"},
                {"one", "x[3,7], 1, [1]", "sums of magnitudes"},
                {"largest", "x[3,7], inf, [1], True", "the largest magnitude"},
                {"smallest", "x[3,7], -inf, [0]", "the smallest magnitude"},
                {"zero", "x[3,4]{0,1,2,0}, 0, [1]", "how many are not 0"},
                {"three", "x[3,7], 3", "another order"},
                {"to_float64", "x[3,7], dtype=float64", "in another dtype", kF32 | kBF16}}},
      {.op = "norm.Scalar",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7]"}, {"one", "x[3,7], 1", "magnitudes"}}},
      {.op = "norm.ScalarOpt_dim",
       .dtypes = kInexact,
       .rows = {{"usual", "x[3,7], 2, [1]"}, {"keepdim", "x[3,7], 1, [0], True", "it stays"}}},
      {.op = "dist",
       .dtypes = kFloats,
       .rows = {{"usual", "x[3,7], x[3,7]"}, {"one", "x[3,7], x[7], 1", "broadcast"}}},
      {.op = "cumsum",
       .dtypes = kAll,
       .rows = {{"last", "x[3,7], 1"},
                {"first", "x[3,7], 0", "along the first dimension"},
                {"negative", "x[2,3,4], -2", "a negative dimension"},
                {"zero_dim", "x[], 0", "0-d", kF32},
                {"empty", "x[0], 0", "no elements", kF32 | kI64},
                {"to_float64", "x[3,7], 1, dtype=float64", "in another dtype", kF32 | kI32 | kBF16},
                {"transposed", "x[4,6]:transposed, 1", "columns first in memory", kF32},
                {"with_nan", "x[2,4]:with_nan, 1", "NaN from there on", kFloats}}},
      {.op = "cumprod",
       .dtypes = kAll,
       .rows = {{"last", "x[3,7], 1"},
                {"negative", "x[2,3,4], -2", "a negative dimension"},
                {"with_nan", "x[2,4]:with_nan, 1", "NaN from there on", kFloats}}},
      {.op = "logcumsumexp",
       .dtypes = kFloats,
       .rows = {{"last", "x[3,7], 1"}, {"infinities", "x[4]{-inf,1,inf,2}, 0", "infinities"}}},
      {.op = "diff",
       .dtypes = kReals,
       .rows = {{"usual", "x[3,7]"},
                {"second", "x[3,7], 2, 0", "second differences"},
                {"with_ends", "x[3,4], prepend=x[3,1], append=x[3,2]", "more at both ends"}}},
  };
}

OperatorTable softmaxes() {
  const std::vector<CaseRow> rows = {
      {"last", "x[3,7], -1"},
      {"first", "x[5,3], 0", "along the first dimension"},
      {"middle", "x[2,5,3], 1", "along a dimension in the middle", kF32 | kBF16},
      {"zero_dim", "x[], 0", "0-d", kF32},
      {"one_element", "x[3,1], 1", "of one element each", kF32},
      {"empty", "x[0,4], 1", "no rows", kF32},
      {"large", "x[2,5]:80..90, 1", "exponentials that overflow by themselves"},
      {"masked", "x[2,4]{1,-inf,2,-inf}, 1", "masked elements"},
      {"all_masked", "x[2,3]{-inf,-inf,-inf,1,2,3}, 1", "a row without an element: NaN"},
      {"transposed", "x[4,6]:transposed, 1", "columns first in memory", kF32},
      {"long", "x[2,301], 1", "more than the vectors of a loop, and a rest", kF32 | kBF16},
  };
  const std::vector<CaseRow> with_flag = {{"last", "x[3,7], -1, False"},
                                          {"first", "x[5,3], 0, False", "along the first"},
                                          {"middle", "x[2,5,3], 1, False", "in the middle"},
                                          {"masked", "x[2,4]{1,-inf,2,-inf}, 1, False", "masked"}};
  const std::vector<CaseRow> to_dtype = {
      {"to_float64", "x[3,7], 1, dtype=float64", "in another dtype", kF32 | kBF16},
      {"to_float32", "x[3,7], 1, dtype=float32", "in another dtype", kHalves}};
  return {
      {"softmax.int", kFloats, with(rows, to_dtype)},
      {"log_softmax.int", kFloats, with(rows, to_dtype)},
      {"_softmax", kFloats, with_flag},
      {"_log_softmax", kFloats, with_flag},
      {"_safe_softmax",
       kFloats,
       {{"all_masked", "x[2,3]{-inf,-inf,-inf,1,2,3}, 1", "a row without an element: zeros"}}},
      {"_softmax_backward_data", kFloats, {{"usual", "x[3,4], x[3,4]:0..1, 1, x"}}},
      {"_log_softmax_backward_data", kFloats, {{"usual", "x[3,4], x[3,4]:-2..0, 1, x"}}},
  };
}

OperatorTable extremes() {
  const std::vector<CaseRow> ties = {
      {"ties", "x[2,4]{1,3,3,2}, 1", "two that are equal: the index of either", kReals}};
  const auto argument_rows = std::vector<CaseRow>{
      {"usual", "x[3,7]:distinct"},
      {"dim", "x[3,7]:distinct, 1", "along a dimension"},
      {"keepdim", "x[3,7]:distinct, 0, True", "the dimension stays", kF32 | kI64},
      {"negative", "x[2,3,4]:distinct, -2", "a negative dimension", kF32},
      {"zero_dim", "x[]", "0-d", kF32},
      {"with_nan", "x[3,4]:with_nan, 1", "a NaN is the extreme", kFloats},
      {"ties", "x[2,4]{1,3,3,1}, 1", "two that are equal: the index of either"},
      {"transposed", "x[4,6]:distinct:transposed", "columns first in memory", kF32}};
  const auto picked = CaseProperty::kPickedValues;
  return {
      {"amax", kRealsAndBool, with(dims_rows(), {kNoDims})},
      {"amin", kRealsAndBool, with(dims_rows(), {kNoDims})},
      {"max", kRealsAndBool, whole_rows()},
      {"min", kRealsAndBool, whole_rows()},
      {.op = "max.dim",
       .dtypes = kRealsAndBool,
       .rows = with(dim_rows(), ties),
       .property = picked},
      {.op = "min.dim",
       .dtypes = kRealsAndBool,
       .rows = with(dim_rows(), ties),
       .property = picked},
      {.op = "argmax", .dtypes = kReals, .rows = argument_rows, .property = picked},
      {.op = "argmin", .dtypes = kReals, .rows = argument_rows, .property = picked},
      {"aminmax",
       kRealsAndBool,
       {{"usual", "x[3,7]"},
        {"dim", "x[3,7], dim=1, keepdim=True", "along a dimension"},
        {"with_nan", "x[3,4]:with_nan", "a NaN", kFloats}}},
      {"any", kAll, with(whole_rows(), {kEmpty})},
      {"all", kAll, with(whole_rows(), {kEmpty})},
      {"any.dim", kAll, with(dim_rows(), {kEmptyOneDim})},
      {"all.dim", kAll, with(dim_rows(), {kEmptyOneDim})},
      {"any.dims", kAll, with(dims_rows(), {kNone})},
      {"all.dims", kAll, with(dims_rows(), {kNone})},
      {"median",
       kReals,
       {{"usual", "x[3,7]:distinct"},
        {"even", "x[2,4]:distinct", "the lower of two in the middle"},
        {"with_nan", "x[3,4]:with_nan", "a NaN", kFloats}}},
      {"nanmedian",
       kReals,
       {{"usual", "x[3,7]:distinct"}, {"with_nan", "x[3,4]:with_nan", "NaN is left out", kFloats}}},
      {.op = "median.dim", .dtypes = kReals, .rows = with(dim_rows(), ties), .property = picked},
      {.op = "nanmedian.dim",
       .dtypes = kReals,
       .rows = {{"usual", "x[3,7]:distinct, 1"},
                {"with_nan", "x[3,4]:with_nan, 1", "NaN is left out", kFloats}},
       .property = picked},
      {.op = "mode",
       .dtypes = kReals,
       .rows = {{"usual", "x[2,6]{1,2,2,3,3,3,5,5,4,4,4,1}, 1", "the most frequent"},
                {"first", "x[3,2]{1,2,1,3,2,3}, 0, True", "along the first dimension"}},
       .property = picked},
      {.op = "cummax",
       .dtypes = kReals,
       .rows = {{"usual", "x[3,7]:distinct, 1"},
                {"with_nan", "x[2,4]:with_nan, 1", "NaN stays", kFloats}},
       .property = picked},
      {.op = "cummin",
       .dtypes = kReals,
       .rows = {{"usual", "x[3,7]:distinct, 1"},
                {"with_nan", "x[2,4]:with_nan, 1", "NaN stays", kFloats}},
       .property = picked},
      {"quantile",
       kWide,
       {{"one", "x[3,7], x[]{0.25}"},
        {"several", "x[3,7], x[3]{0,0.5,1}, 1, True", "several, along one"},
        {"lower", "x[3,7], x[1]{0.3}, 0, interpolation='lower'", "the lower"},
        {"midpoint", "x[3,7], x[1]{0.3}, 0, interpolation='midpoint'", "between both"}}},
      {"nanquantile", kWide, {{"usual", "x[3,4]:with_nan, x[]{0.25}, 1", "NaN is left out"}}},
      {"histc", kFloats, {{"usual", "x[40], 4, -2, 2"}}},
      {"bincount",
       kInts,
       {{"usual", "x[9]:0..5"},
        {"more", "x[9]:0..5, minlength=8", "zeros"},
        {"weights", "x[9]:0..5, float32[9]", "weighted"}}},
      {"renorm", kFloats, {{"usual", "x[3,4], 2, 0, 1"}}},
  };
}

const bool registered_reduction = register_operator_cases([] {
  std::vector<OperatorCase> cases;
  for (const auto table : {&sums, &softmaxes, &extremes}) {
    std::ranges::move(make_cases("reduction", table()), std::back_inserter(cases));
  }
  return cases;
});

}  // namespace
}  // namespace torch_ir
