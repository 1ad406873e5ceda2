// Tolerance: how far two elements may be apart and still agree.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <map>

namespace torch_ir {

// |actual - expected| <= atol + rtol * |expected|
struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-5;

  bool operator==(const Tolerance&) const = default;
};

// The tolerances of the outputs of a graph.
struct ToleranceRule {
  Tolerance fixed = {};
  // default_tolerance of the dtype of the expected output, in place of `fixed`.
  bool by_dtype = false;
  // Of single outputs, by their position; these go first.
  std::map<size_t, Tolerance> outputs = {};

  bool operator==(const ToleranceRule&) const = default;
};

// What torch.testing.assert_close takes for tensors of `dtype`.
// https://docs.pytorch.org/docs/stable/testing.html
Tolerance default_tolerance(c10::ScalarType dtype);

// The tolerance of `rule` for the output at `position`, expected to be of `dtype`.
Tolerance tolerance_for(const ToleranceRule& rule, size_t position, c10::ScalarType dtype);

}  // namespace torch_ir
