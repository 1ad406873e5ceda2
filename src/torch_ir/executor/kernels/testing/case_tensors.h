// Tensors for the tests of kernels: of all dtypes and layouts, with all that a dtype can hold.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace torch_ir {

enum class Layout { kContiguous, kTransposed, kChannelsLast, kSliced, kExpanded };
constexpr Layout kLayouts[] = {Layout::kContiguous, Layout::kTransposed, Layout::kChannelsLast,
                               Layout::kSliced, Layout::kExpanded};

// What a tensor holds: everything that its dtype has (zeros of both signs, infinities, NaNs with
// and without payload), or numbers that fewer operators refuse or answer with NaN.
enum class Values { kAny, kFinite, kPositive };

inline constexpr at::ScalarType kFloats[] = {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16};
inline constexpr at::ScalarType kAllDtypes[] = {
    at::kFloat, at::kDouble, at::kHalf, at::kBFloat16,     at::kLong,         at::kInt,
    at::kByte,  at::kChar,   at::kBool, at::kComplexFloat, at::kComplexDouble};

// The same numbers in every run of the test.
at::Tensor make_tensor(at::ScalarType dtype, const std::vector<int64_t>& sizes,
                       Layout layout = Layout::kContiguous, Values values = Values::kAny);

// Whole numbers from 0 to `limit` - 1.
at::Tensor make_indices(const std::vector<int64_t>& sizes, int64_t limit,
                        at::ScalarType dtype = at::kLong);

// A tensor of no dimensions made of a number, which counts as a number in type promotion.
at::Tensor make_wrapped_number(const at::Scalar& number);

}  // namespace torch_ir
