// compare_nodes: finds where a graph first diverges from its model.
//
// The model and the graph run side by side. Each value is compared when the model has made it, and
// then released, so that memory is that of two runs. Values that are written in place are compared
// as they were right after their node.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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
  // The group that the executor computes the node in; empty for a node by itself.
  std::string group = {};
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
  // Of these, values that the executor or backend did not hand back.
  int64_t num_not_handed_back = 0;
  // What it handed back that the graph does not have, sorted, at most kMaxNodeDetails names.
  std::vector<std::string> unknown = {};
  int64_t num_unknown = 0;
  // The groups of nodes that it computes at once, and the values inside them, which are not
  // expected.
  int64_t num_groups = 0;
  int64_t num_inside = 0;
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

// A value of the run of a graph, in the form that it has there.
struct SeenValue {
  SeenValue() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most values are just tensors.
  SeenValue(at::Tensor value) : tensor(std::move(value)) {}

  // Undefined if the run has none of its own.
  at::Tensor tensor = {};
  // If it was handed back quantised, the distance of two steps, and the range of all. It is then
  // right within half a step more than the tolerance.
  double step = 0;
  double low = 0;
  double high = 0;
  // The narrower floating-point dtype that it was handed back in, which decides the tolerance.
  std::optional<c10::ScalarType> rounded_to = std::nullopt;

  bool is_rounded() const { return step > 0 || rounded_to; }
};

// Returns the value of that name from the run of the graph. Called once for each value, in the
// order in which the model reports them.
using ActualValue = std::function<SeenValue(const std::string& name)>;

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

// Compares `values` of `graph`, of its compared_values. Exceptions of the two runs end up in the
// report, with what was compared until then. Leaves Divergence::inputs empty.
//
// `exonerate` is called at most once, after the runs. A node is right if each of its values agrees,
// is exonerated, or could not be seen and is only read by nodes that are right. Outputs of the
// graph, and values that nothing reads, are never exonerated. A value that was rounded to be handed
// back is judged by the tolerance alone.
NodeReport compare_nodes(const Graph& graph, const std::vector<std::string>& values,
                         const ReferenceRun& reference, const ActualValue& actual,
                         const ToleranceRule& tolerance,
                         const std::optional<NodeJudge>& judge = std::nullopt,
                         const Exonerate& exonerate = nullptr);

}  // namespace torch_ir
