// Makes tensors of doubles, including NaN and infinity, for the tests of comparisons.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include <limits>

namespace torch_ir {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline at::Tensor doubles(at::ArrayRef<double> values) { return at::tensor(values, at::kDouble); }

}  // namespace torch_ir
