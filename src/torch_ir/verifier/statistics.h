// TensorStatistics: counts and moments of a tensor, for reports on wrong values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace torch_ir {

// Covers only finite elements, and is NaN without any; uses the moduli of complex numbers.
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

// Deterministic on every machine: sums are in the order of the elements. Accepts tensors that are
// undefined or without values.
TensorStatistics statistics(const std::string& name, const at::Tensor& tensor);

// A complex number is NaN if either part is.
int64_t count_nan(const at::Tensor& tensor);

}  // namespace torch_ir
