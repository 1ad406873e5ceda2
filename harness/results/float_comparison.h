// FloatComparison: the tensors of a quantised model compared with those of its float model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/verifier/statistics.h"

namespace torch_ir {

// The operator and the module are those of the float graph; the names of the two values are those
// of their statistics. In the quantised graph it is the value that the next nodes see: the
// dequantised one, if the value is quantised and dequantised.
struct ComparedValue {
  std::string op_type = {};
  // Empty if unknown, or for the model itself.
  std::string module = {};
  TensorStatistics floating = {};
  TensorStatistics quantized = {};
  // 10 log10(sum f^2 / sum (f - q)^2), as TensorComparison::signal_to_noise.
  double sqnr = 0;
  // The lowest SQNR of the compared values that it is computed from; infinite if there are none.
  double input_sqnr = std::numeric_limits<double>::infinity();
  // The number of elements at the least or the greatest value of the quantised dtype, unless that
  // value represents 0, as after a ReLU. Empty if the value is not quantised.
  std::optional<int64_t> num_saturated = std::nullopt;
};

struct FloatComparison {
  // The file of the float model, without its folder.
  std::string file = {};
  // In the order of the float graph.
  std::vector<ComparedValue> values = {};
  // Names of values of the float graph that were not found in the quantised one; at most the first
  // kMaxUnmatched.
  std::vector<std::string> unmatched = {};
  int64_t num_unmatched = 0;
  // Values of the float graph that the quantised graph computes only together with a later one,
  // such as that of a batch norm, which is compared.
  int64_t num_folded = 0;
  // The reason if the comparison ended early.
  std::string error = {};

  static constexpr size_t kMaxUnmatched = 50;
};

// Returns at most `count` values with the lowest SQNR, the lowest first.
std::vector<const ComparedValue*> worst_values(const FloatComparison& comparison, size_t count);

// Returns the value that adds the most noise, relative to its signal, to the noise of its inputs;
// or null without values.
const ComparedValue* noisiest_value(const FloatComparison& comparison);

// "'linear_3' (layers.1.fc2)".
std::string place_text(const ComparedValue& value);

// "against FLOAT.pt2: 34 tensors compared, worst 18.2 dB at 'linear_3' (layers.1.fc2)".
std::string comparison_line(const FloatComparison& comparison);

}  // namespace torch_ir
