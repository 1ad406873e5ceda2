// compare_nodes: finds where a graph first diverges from its model.
//
// The model and the graph run side by side. Each value is compared when the model has made it, and
// then released, so that memory is that of two runs. Values that are written in place are compared
// as they were right after their node.
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
#include "torch_ir/verifier/verdict.h"

namespace torch_ir {

struct NodeDetail {
  int64_t index = 0;
  std::string node = {};
  std::string op_type = {};
  // The name of the value: that of the node, or one of its several outputs.
  std::string value = {};
  TensorComparison comparison = {};
  // The path of the module that makes the call; empty where unknown.
  std::string module = {};
};

struct Divergence {
  NodeDetail node = {};
  // Statistics of the inputs from which the graph computed the value.
  std::vector<TensorStatistics> inputs = {};
  TensorStatistics actual = {};
  TensorStatistics expected = {};
};

// The first value that holds NaN or infinity.
struct NonFinite {
  int64_t index = 0;
  std::string node = {};
  std::string op_type = {};
  std::string value = {};
  // Whether NaN, or else infinite.
  bool is_nan = false;
  // Whether the model has it there too.
  bool is_expected = false;
};

struct NodeOpinion {
  int64_t index = 0;
  std::string node = {};
  std::string op_type = {};
  std::string value = {};
  SecondOpinion opinion = {};
};

struct NodeError {
  int64_t index = 0;
  // The greatest of its compared values; infinite for one of another shape or dtype.
  double max_diff = 0;
};

struct NodeReport {
  // In effect; tolerances for single outputs also hold for the values that are these outputs.
  ToleranceRule tolerance = {};
  int64_t num_compared = 0;
  // Exonerated values are among them.
  int64_t num_mismatched = 0;
  // The first value outside the tolerance that is not exonerated.
  std::optional<Divergence> first_divergence = std::nullopt;
  // Values outside the tolerance that were only handed back wrong: the nodes that read them are
  // right. In graph order, at most kMaxNodeDetails.
  std::vector<NodeDetail> exonerated = {};
  int64_t num_exonerated = 0;
  std::optional<NonFinite> first_nan = std::nullopt;
  std::optional<NonFinite> first_inf = std::nullopt;
  // The greatest nonzero errors, the greatest first; at most kMaxNodeDetails.
  std::vector<NodeDetail> worst = {};
  // Of every node with compared values.
  std::vector<NodeError> errors = {};
  // Values that could not be compared, at most kMaxNodeDetails, and why.
  struct Skipped {
    std::string value;
    std::string reason;
  };
  std::vector<Skipped> skipped = {};
  int64_t num_skipped = 0;
  // The second opinions with the greatest factors, greatest first, ties by distance from float64;
  // at most kMaxNodeDetails.
  std::vector<NodeOpinion> opinions = {};
  int64_t num_opinions = 0;
  // Compared values without an opinion, and why the first of them has none.
  int64_t num_without_opinion = 0;
  std::string opinion_problem = {};
  // Why the comparison ended early.
  std::string error = {};
  // A remark, one line: why there is no reproducer, or how values were obtained.
  std::string note = {};
};

inline constexpr size_t kMaxNodeDetails = 50;

// Runs the model and reports its values, in the order of the graph. Values that the graph lacks are
// ignored.
using ReferenceRun = std::function<void(const ValueObserver&)>;

// Returns the value of that name from the run of the graph; undefined if it has none of its own.
// Called once for each value, in the order in which the model reports them.
using ActualValue = std::function<at::Tensor(const std::string& name)>;

// The names of the values to compare, in the order of the graph: the results of its nodes; if a
// node makes several, only those that are read. Unread ones, such as the saved statistics of a
// batch norm, may differ between devices.
std::vector<std::string> compared_values(const Graph& graph);

// Gives second opinions of values. With float64 as the reference, values without an opinion pass;
// with kAuto, those that the graph may round otherwise.
struct NodeJudge {
  Float64Run& run;
  Criterion criterion = {};
};

// A value outside the tolerance whose readers, nodes by their index, are all right.
struct DoubtedValue {
  std::string name = {};
  std::vector<size_t> readers = {};
};

// For each value, whether it is exonerated: what is wrong with it does not reach its readers.
using Exonerate = std::function<std::vector<bool>(const std::vector<DoubtedValue>& values)>;

// Compares the compared_values of `graph`. Exceptions of the two runs end up in the report, with
// what was compared until then. Leaves Divergence::inputs empty.
//
// `exonerate` is called at most once, after the runs. A node is right if each of its values agrees,
// is exonerated, or could not be seen and is only read by nodes that are right. Outputs of the
// graph, and values that nothing reads, are never exonerated.
NodeReport compare_nodes(const Graph& graph, const ReferenceRun& reference,
                         const ActualValue& actual, const ToleranceRule& tolerance,
                         const std::optional<NodeJudge>& judge = std::nullopt,
                         const Exonerate& exonerate = nullptr);

}  // namespace torch_ir
