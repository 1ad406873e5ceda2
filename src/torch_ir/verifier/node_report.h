// NodeReport: where a graph first computes something else than its model.
//
// Plain data, made by compare_nodes, read by the reports.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/verifier/compare.h"

namespace torch_ir {

// What can be said of a tensor in one line. Figures are over its finite elements, and NaN where
// there are none; of complex numbers, over their moduli.
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

// One value that a node makes, compared.
struct NodeDetail {
  // Position of the node in the graph.
  int64_t index = 0;
  std::string node = {};
  std::string op_type = {};
  // The name of the value: that of the node, or one of its several outputs.
  std::string value = {};
  TensorComparison comparison = {};
};

// The first value outside the tolerance.
struct Divergence {
  NodeDetail node = {};
  // Of the inputs that the graph computed the value from, and of the value itself.
  std::vector<TensorStatistics> inputs = {};
  TensorStatistics actual = {};
  TensorStatistics expected = {};
};

// The first value that holds what is not a number, or infinite.
struct NonFinite {
  int64_t index = 0;
  std::string node = {};
  std::string op_type = {};
  std::string value = {};
  // Whether NaN, or else infinite.
  bool is_nan = false;
  // Whether the model has it there as well.
  bool is_expected = false;
};

struct NodeReport {
  // In effect; what it says of single outputs holds for the values that are these outputs.
  ToleranceRule tolerance = {};
  // How many values were compared, and how many are outside the tolerance.
  int64_t num_compared = 0;
  int64_t num_mismatched = 0;
  std::optional<Divergence> first_divergence = std::nullopt;
  std::optional<NonFinite> first_nan = std::nullopt;
  std::optional<NonFinite> first_inf = std::nullopt;
  // Those with the greatest errors that are not 0, the greatest first; at most kMaxNodeDetails.
  std::vector<NodeDetail> worst = {};
  // Values that the graph computes but nobody could compare, at most as many, and why.
  struct Skipped {
    std::string value;
    std::string reason;
  };
  std::vector<Skipped> skipped = {};
  int64_t num_skipped = 0;
  // What went wrong on the way, where the comparison came to no end.
  std::string error = {};
  // What else there is to know, one line: why there is no reproducer, or how values were obtained.
  std::string note = {};
};

inline constexpr size_t kMaxNodeDetails = 50;

}  // namespace torch_ir
