// compare_nodes: finds where a graph first diverges from its model.
//
// The model and the graph run side by side. Each value is compared when the model has made it, and
// then released, so that memory is that of two runs. Values that are written in place are compared
// as they were right after their node.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/verifier/judge.h"
#include "torch_ir/verifier/statistics.h"
#include "torch_ir/verifier/value_detail.h"

namespace torch_ir {

struct Divergence {
  ValueDetail node = {};
  // Statistics of the inputs from which the graph computed the value.
  std::vector<TensorStatistics> inputs = {};
  TensorStatistics actual = {};
  TensorStatistics expected = {};
};

struct NodeError {
  int64_t index = 0;
  // The max abs. error over its compared values; infinite if a shape or dtype differs.
  double max_diff = 0;
  // The greatest RMS of its own error, in roundings, if that was judged.
  std::optional<double> own_error = std::nullopt;
};

struct NodeReport {
  // The rule in effect. Tolerances of single outputs also apply to the values that are these
  // outputs.
  ToleranceRule tolerance = {};
  // The compared values: those within the tolerance, and num_right_locally, num_mismatched and
  // num_not_judged.
  int64_t num_compared = 0;
  // Outside the tolerance, but right for the values that the run returned before them.
  int64_t num_right_locally = 0;
  // Indices that were chosen otherwise between values closer than their errors.
  int64_t num_other_choices = 0;
  // Includes exonerated values.
  int64_t num_mismatched = 0;
  // At most kMaxDetails of them are in `not_judged`.
  int64_t num_not_judged = 0;
  // The first wrong value that is not exonerated.
  std::optional<Divergence> first_divergence = std::nullopt;
  // Values that were only returned wrong: the nodes that read them are right without them.
  // In graph order, at most kMaxDetails.
  std::vector<ValueDetail> exonerated = {};
  int64_t num_exonerated = 0;
  // The greatest nonzero errors, in descending order; at most kMaxDetails.
  std::vector<ValueDetail> worst = {};
  // The error of every node with compared values.
  std::vector<NodeError> errors = {};
  // Values that could not be compared, or not judged, at most kMaxDetails, and why.
  struct Skipped {
    std::string value;
    std::string reason;
  };
  std::vector<Skipped> not_judged = {};
  std::vector<Skipped> skipped = {};
  int64_t num_skipped = 0;
  // How many of these the executor or backend did not return.
  int64_t num_not_handed_back = 0;
  // Names of returned values that the graph does not have, sorted; at most kMaxDetails.
  std::vector<std::string> unknown = {};
  int64_t num_unknown = 0;
  // Groups of nodes that the executor computes at once, each with the names of its nodes, and the
  // number of values inside them, which it need not return.
  std::vector<std::pair<std::string, std::vector<std::string>>> groups = {};
  int64_t num_inside = 0;
  // Why the comparison ended early.
  std::string error = {};
  // One line: why there is no reproducer, or how values were obtained.
  std::string note = {};
};

// Runs the model and reports its values, in the order of the graph. Values that the graph lacks are
// ignored.
using ReferenceRun = std::function<void(const ValueObserver&)>;

// Returns the value of that name from the run of the graph. Called once for each value, in the
// order in which the model reports them.
using ActualValue = std::function<SeenValue(const std::string& name)>;

// Whether a node reads the value, or the graph returns it.
bool is_used(const Graph& graph, ValueId value);

// The values to compare, in the order of the graph: the results of its nodes; if a
// node makes several, only those that are read. Unread ones, such as the saved statistics of a
// batch norm, may differ between devices.
std::vector<ValueId> compared_values(const Graph& graph);

// Compares `values`, a subset of the graph's compared_values, and judges them by the criterion of
// `judge`. kAuto accepts values within the tolerance, and those that are right for the values that
// the run returned before them; kFloat64 and arithmetics accept only the latter, kModel only the
// former. Where the graph does not describe the model, or the lanes say nothing, the tolerance
// decides; but where they say nothing, what is outside it is not judged if the graph rounds, or if
// the run computed in an arithmetic.
//
// If the outputs have failed, wrong values that make no difference are no cause, and if no value is
// wrong, the one that only the tolerance excuses is the first divergence.
//
// An exception of a run ends up in the report, with all values compared until then. Leaves
// Divergence::inputs empty.
NodeReport compare_nodes(const Graph& graph, const std::vector<ValueId>& values,
                         const ReferenceRun& reference, const ActualValue& actual,
                         const ToleranceRule& tolerance, Judge& judge, bool has_failed);

}  // namespace torch_ir
