// compare_nodes: where does a graph first compute something else than its model?
//
// The model and the graph run side by side: each value is compared as soon as the model has made
// it, and let go of before the next, so that memory is that of two runs. What is written to in
// place is compared as it was right after its node, on both sides. What comes out, a NodeReport, is
// plain data, which the reports read.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/float64_run.h"
#include "torch_ir/verifier/second_opinion.h"
#include "torch_ir/verifier/statistics.h"

namespace torch_ir {

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

// What float64 says of one value.
struct NodeOpinion {
  int64_t index = 0;
  std::string node = {};
  std::string op_type = {};
  std::string value = {};
  SecondOpinion opinion = {};
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
  // Those of the second opinions with the greatest factors, the greatest first, and of equal ones
  // those that are furthest from float64; at most kMaxNodeDetails.
  std::vector<NodeOpinion> opinions = {};
  int64_t num_opinions = 0;
  // How many of the values that were compared have none, and why the first of them has not.
  int64_t num_without_opinion = 0;
  std::string opinion_problem = {};
  // What went wrong on the way, where the comparison came to no end.
  std::string error = {};
  // What else there is to know, one line: why there is no reproducer, or how values were obtained.
  std::string note = {};
};

inline constexpr size_t kMaxNodeDetails = 50;

// Runs the model and tells its values, in the order of the graph. Values that the graph does not
// have are passed over.
using ReferenceRun = std::function<void(const ValueObserver&)>;

// The value called so in the run of the graph; undefined where there is none by itself. Asked for
// in the order in which the model tells them, each once.
using ActualValue = std::function<at::Tensor(const std::string& name)>;

// The values that are compared, by name, in the order of the graph: what its nodes make, but of
// nodes that make several only those that are read. What nobody reads, such as the statistics that
// a batch norm saves, may differ from device to device.
std::vector<std::string> compared_values(const Graph& graph);

// Who gives second opinions of values, and whether they decide in place of the tolerance.
struct NodeJudge {
  Float64Run& run;
  // The greatest factor that passes, where float64 is the reference; values of which it says
  // nothing pass then.
  std::optional<double> error_factor = std::nullopt;
};

// Compares the compared_values of `graph`. Throws nothing that the two runs throw: what was
// compared until then is in the report, with the error. Leaves Divergence::inputs empty.
NodeReport compare_nodes(const Graph& graph, const ReferenceRun& reference,
                         const ActualValue& actual, const ToleranceRule& tolerance,
                         const std::optional<NodeJudge>& judge = std::nullopt);

}  // namespace torch_ir
