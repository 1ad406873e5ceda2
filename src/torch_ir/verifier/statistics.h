// statistics: what can be said of a tensor in one line.
//
// For reports on values that are wrong. Memory stays small whatever the size: elements are read a
// block at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "torch_ir/verifier/node_report.h"

namespace torch_ir {

// The same bytes on every machine: sums are in the order of the elements. Of a tensor that is
// undefined or without values, only what there is.
TensorStatistics statistics(const std::string& name, const at::Tensor& tensor);

// Which of them `tensor` has at all.
struct NonFiniteValues {
  bool has_nan = false;
  bool has_inf = false;
};

NonFiniteValues find_non_finite(const at::Tensor& tensor);

}  // namespace torch_ir
