// Pooling: averages and maxima of windows.
#include <algorithm>
#include <iterator>

#include "models/operators/case_table.h"

namespace torch_ir {
namespace {

OperatorTable averages() {
  return {
      {"avg_pool1d",
       kFloats,
       {{"usual", "x[2,3,8], [2]"},
        {"padded", "x[1,2,9], [3], [2], [1]", "stride and padding"},
        {"ceil_mode", "x[1,2,8], [3], [2], [0], True", "the last window sticks out"},
        {"exclude_padding", "x[1,2,9], [3], [2], [1], False, False", "padding is not counted"},
        {"unbatched", "x[2,8], [2]", "without a batch"}}},
      {"avg_pool2d",
       kFloats,
       {{"usual", "x[2,3,6,6], [2,2]"},
        {"overlapping", "x[1,2,7,7], [3,3], [1,1]", "windows that overlap"},
        {"padded", "x[1,2,7,8], [3,3], [2,2], [1,1]", "padding is counted"},
        {"exclude_padding", "x[1,2,7,8], [3,3], [2,2], [1,1], False, False",
         "padding is not counted"},
        {"ceil_mode", "x[1,2,8,7], [3,3], [2,2], [0,0], True", "the last windows stick out"},
        {"ceil_mode_padded", "x[1,2,8,8], [3,3], [2,2], [1,1], True",
         "beyond the padding nothing is counted"},
        {"ceil_mode_exclude_padding", "x[1,2,8,8], [3,3], [2,2], [1,1], True, False",
         "neither the padding nor what is beyond"},
        {"divisor", "x[1,2,6,6], [2,2], divisor_override=3", "another divisor"},
        {"uneven", "x[1,2,6,9], [1,3], [2,1], [0,1]", "differs by dimension"},
        {"unbatched", "x[2,6,6], [2,2]", "without a batch"},
        {"empty_batch", "x[0,2,6,6], [2,2]", "no images"},
        {"channels_last", "x[2,3,6,6]:channels_last, [2,2]", "channels last in memory"},
        {"with_nan", "x[1,1,4,4]:with_nan, [2,2]", "a NaN inside"}}},
      {"avg_pool3d",
       kWide,
       {{"usual", "x[1,2,4,4,4], [2,2,2]"},
        {"padded", "x[1,2,5,5,5], [3,3,3], [2,2,2], [1,1,1], True, False",
         "padding is not counted, the last windows stick out"},
        {"divisor", "x[1,2,4,4,4], [2,2,2], divisor_override=5", "another divisor"}}},
      {"avg_pool2d_backward",
       kFloats,
       {{"usual", "x[1,2,3,3], x[1,2,6,6], [2,2], [2,2], [0,0], False, True, None"}}},
      {"adaptive_avg_pool1d",
       kFloats,
       {{"usual", "x[2,3,8], [4]"},
        {"uneven", "x[2,3,7], [3]", "windows of two lengths"},
        {"one", "x[2,3,7], [1]", "one window"},
        {"upwards", "x[1,2,3], [5]", "more than there are"}}},
      {"adaptive_avg_pool2d",
       kFloats,
       {{"usual", "x[2,3,6,6], [3,3]"},
        {"uneven", "x[1,2,7,5], [3,2]", "windows of two lengths"},
        {"one", "x[2,3,7,5], [1,1]", "one window"},
        {"one_channels_last", "x[2,3,7,5]:channels_last, [1,1]", "channels last in memory"},
        {"upwards", "x[1,2,3,2], [5,4]", "more than there are"},
        {"unbatched", "x[3,6,6], [2,3]", "without a batch"}}},
      {"adaptive_avg_pool3d",
       kWide,
       {{"usual", "x[1,2,4,5,6], [2,2,3]"}, {"one", "x[1,2,4,5,6], [1,1,1]", "one window"}}},
      {"_adaptive_avg_pool2d",
       kFloats,
       {{"usual", "x[2,3,6,6], [3,3]"}, {"uneven", "x[1,2,7,5], [3,2]", "two lengths"}}},
      {"_adaptive_avg_pool3d", kWide, {{"usual", "x[1,2,4,5,6], [2,2,3]"}}},
      {"_adaptive_avg_pool2d_backward", kFloats, {{"usual", "x[2,3,3,3], x[2,3,6,6]"}}},
  };
}

OperatorTable maxima() {
  const std::vector<CaseRow> in_two_dims = {
      {"usual", "x[2,3,6,6]:distinct, [2,2]"},
      {"overlapping", "x[1,2,7,7]:distinct, [3,3], [1,1]", "windows that overlap"},
      {"padded", "x[1,2,7,8]:distinct, [3,3], [2,2], [1,1]", "padding is below every number"},
      {"padded_negative", "x[1,2,7,8]:distinct:-9..-1, [3,3], [2,2], [1,1]", "padding is not 0"},
      {"dilated", "x[1,2,8,8]:distinct, [2,2], [1,1], [0,0], [2,3]", "dilation"},
      {"ceil_mode", "x[1,2,8,7]:distinct, [3,3], [2,2], [0,0], [1,1], True",
       "the last windows stick out"},
      {"ceil_mode_padded", "x[1,2,8,8]:distinct, [3,3], [2,2], [1,1], [1,1], True",
       "a window that would begin in the padding is left out"},
      {"uneven", "x[1,2,6,9]:distinct, [1,3], [2,1], [0,1]", "differs by dimension"},
      {"unbatched", "x[2,6,6]:distinct, [2,2]", "without a batch"},
      {"channels_last", "x[2,3,6,6]:distinct:channels_last, [2,2]", "channels last in memory",
       kFloats},
      {"with_nan", "x[1,1,4,4]:with_nan, [2,2]", "a NaN is the largest", kFloats},
      {"infinities", "x[1,1,2,4]{-inf,-inf,1,inf}, [2,2]", "infinities", kFloats},
      {"ties", "x[1,1,4,4]{1,2}, [2,2]", "several that are equal"}};
  const auto picked = CaseProperty::kPickedInPlane;
  return {
      {"max_pool1d",
       kFloats,
       {{"usual", "x[2,3,8], [2]"},
        {"padded", "x[1,2,9], [3], [2], [1]", "stride and padding"},
        {"dilated", "x[1,2,9], [3], [1], [0], [2]", "dilation"},
        {"ceil_mode", "x[1,2,8], [3], [2], [0], [1], True", "the last window sticks out"}}},
      {"max_pool2d", kFloats | kI64, in_two_dims},
      {"max_pool3d",
       kFloats,
       {{"usual", "x[1,2,4,4,4], [2,2,2]"},
        {"padded", "x[1,2,5,5,5], [3,3,3], [2,2,2], [1,1,1], [1,1,1], True",
         "padding, the last windows stick out"}}},
      {.op = "max_pool1d_with_indices",
       .dtypes = kFloats,
       .rows = {{"usual", "x[2,3,8]:distinct, [2]"}},
       .property = picked},
      {.op = "max_pool2d_with_indices",
       .dtypes = kFloats | kI64,
       .rows = in_two_dims,
       .property = picked},
      {.op = "max_pool3d_with_indices",
       .dtypes = kFloats,
       .rows = {{"usual", "x[1,2,4,4,4]:distinct, [2,2,2]"},
                {"padded", "x[1,2,5,5,5]:distinct, [3,3,3], [2,2,2], [1,1,1], [1,1,1], True",
                 "padding, the last windows stick out"},
                {"dilated", "x[1,1,5,5,5]:distinct, [2,2,2], [1,1,1], [0,0,0], [2,1,3]",
                 "dilation"}},
       .property = picked},
      {"max_pool2d_with_indices_backward",
       kFloats,
       {{"usual",
         "x[1,1,2,2], x[1,1,4,4], [2,2], [2,2], [0,0], [1,1], False, int64[1,1,2,2]{0,3,9,15}"}}},
      {.op = "adaptive_max_pool1d",
       .dtypes = kWide,
       .rows = {{"uneven", "x[2,3,7]:distinct, [3]", "windows of two lengths"}},
       .property = picked},
      {.op = "adaptive_max_pool2d",
       .dtypes = kFloats,
       .rows = {{"usual", "x[2,3,6,6]:distinct, [3,3]"},
                {"uneven", "x[1,2,7,5]:distinct, [3,2]", "windows of two lengths"}},
       .property = picked},
      {.op = "adaptive_max_pool3d",
       .dtypes = kWide,
       .rows = {{"usual", "x[1,2,4,5,6]:distinct, [2,2,3]"}},
       .property = picked},
      {"max_unpool2d", kWide, {{"usual", "x[1,1,2,2], int64[1,1,2,2]{0,3,9,15}, [4,4]"}}},
  };
}

const bool registered_pooling = register_operator_cases([] {
  std::vector<OperatorCase> cases = make_cases("pooling", averages());
  std::ranges::move(make_cases("pooling", maxima()), std::back_inserter(cases));
  return cases;
});

}  // namespace
}  // namespace torch_ir
