// How tests make tensors and compare them: ATen's functions for it, and doubles with NaN and
// infinity.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "torch_ir/verifier/compare.h"

namespace torch_ir {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline at::Tensor doubles(at::ArrayRef<double> values) { return at::tensor(values, at::kDouble); }

// Uses the default tolerance of the dtype.
inline TensorComparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected) {
  const auto dtype = expected.defined() ? expected.scalar_type() : at::kFloat;
  return compare_tensors(actual, expected, tolerance_for({}, 0, dtype));
}

}  // namespace torch_ir
