// statistics: what can be said of a tensor in one line.
//
// For reports on values that are wrong. Memory stays small whatever the size: elements are read a
// block at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace torch_ir {

// All numbers are over the finite elements, and NaN where there are none; of complex numbers, over
// their moduli.
struct TensorStatistics {
  std::string name = {};
  std::vector<int64_t> shape = {};
  std::string dtype = {};
  int64_t num_elements = 0;
  int64_t num_nan = 0;
  int64_t num_inf = 0;
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double min = kNone;
  double max = kNone;
  double mean = kNone;
  double standard_deviation = kNone;
};

// The same bytes on every machine: sums are in the order of the elements. Of a tensor that is
// undefined or without values, only what there is.
TensorStatistics statistics(const std::string& name, const at::Tensor& tensor);

// Of complex numbers, those that are NaN in either part; infinite where that is not so.
struct NonFiniteCount {
  int64_t num_nan = 0;
  int64_t num_inf = 0;
};

NonFiniteCount count_non_finite(const at::Tensor& tensor);

}  // namespace torch_ir
