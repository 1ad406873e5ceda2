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

#include "torch_ir/ir/program.h"
#include "torch_ir/verifier/arithmetic.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/float64_run.h"
#include "torch_ir/verifier/second_opinion.h"
#include "torch_ir/verifier/statistics.h"
#include "torch_ir/verifier/verdict.h"

namespace torch_ir {

class OwnErrors;

struct NodeDetail {
  int64_t index = 0;
  std::string node = {};
  std::string op_type = {};
  // The name of the value: that of the node, or one of its several outputs.
  std::string value = {};
  TensorComparison comparison = {};
  // What the node itself adds, if that was judged (own_error.h).
  std::optional<ArithmeticVerdict> own_error = std::nullopt;
  // The path of the module that makes the call; empty if unknown.
  std::string module = {};
  // The line of the call, if the archive records it.
  std::string source = {};
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
  // NaN, or else infinity.
  bool is_nan = false;
  // Whether the model has NaN or infinity there too.
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
  // The max abs. error over its compared values; infinite if a shape or dtype differs.
  double max_diff = 0;
  // The greatest RMS of its own error, in roundings, if that was judged.
  std::optional<double> own_error = std::nullopt;
};

struct NodeReport {
  // The rule in effect. Tolerances of single outputs also apply to the values that are these
  // outputs.
  ToleranceRule tolerance = {};
  // The compared values: those within the tolerance, and the next four numbers.
  int64_t num_compared = 0;
  int64_t num_near_float64 = 0;
  // Right for the values that the run returned before them, see LocalJudge and OwnErrors.
  int64_t num_right_locally = 0;
  // Indices that were chosen otherwise between values closer than their errors.
  int64_t num_other_choices = 0;
  // Includes exonerated values.
  int64_t num_mismatched = 0;
  // At most kMaxNodeDetails of them are in `not_judged`.
  int64_t num_not_judged = 0;
  // The first value outside the tolerance that is not exonerated.
  std::optional<Divergence> first_divergence = std::nullopt;
  // Values outside the tolerance that were only returned wrong: the nodes that read them are right.
  // In graph order, at most kMaxNodeDetails.
  std::vector<NodeDetail> exonerated = {};
  int64_t num_exonerated = 0;
  std::optional<NonFinite> first_nan = std::nullopt;
  std::optional<NonFinite> first_inf = std::nullopt;
  // The greatest nonzero errors, in descending order; at most kMaxNodeDetails.
  std::vector<NodeDetail> worst = {};
  // The error of every node with compared values.
  std::vector<NodeError> errors = {};
  // Values that could not be compared, or not judged, at most kMaxNodeDetails, and why.
  struct Skipped {
    std::string value;
    std::string reason;
  };
  std::vector<Skipped> not_judged = {};
  std::vector<Skipped> skipped = {};
  int64_t num_skipped = 0;
  // How many of these the executor or backend did not return.
  int64_t num_not_handed_back = 0;
  // Names of returned values that the graph does not have, sorted; at most kMaxNodeDetails.
  std::vector<std::string> unknown = {};
  int64_t num_unknown = 0;
  // Groups of nodes that the executor computes at once, and the values inside them, which it need
  // not return.
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
  // One line: why there is no reproducer, or how values were obtained.
  std::string note = {};
};

inline constexpr size_t kMaxNodeDetails = 50;

// Runs the model and reports its values, in the order of the graph. Values that the graph lacks are
// ignored.
using ReferenceRun = std::function<void(const ValueObserver&)>;

// A value as the run of a graph returned it.
struct SeenValue {
  SeenValue() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most values are just tensors.
  SeenValue(at::Tensor value) : tensor(std::move(value)) {}

  // Undefined if the run does not return it.
  at::Tensor tensor = {};
  // If it was returned quantised, the size of a step, and the range of all steps. The tolerance
  // then grows by half a step.
  double step = 0;
  double low = 0;
  double high = 0;
  // The narrower floating-point dtype that it was returned in, which decides the tolerance.
  std::optional<c10::ScalarType> rounded_to = std::nullopt;

  bool is_rounded() const { return step > 0 || rounded_to; }
};

// Returns the value of that name from the run of the graph. Called once for each value, in the
// order in which the model reports them.
using ActualValue = std::function<SeenValue(const std::string& name)>;

// The values to compare, in the order of the graph: the results of its nodes; if a
// node makes several, only those that are read. Unread ones, such as the saved statistics of a
// batch norm, may differ between devices.
std::vector<ValueId> compared_values(const Graph& graph);

// Judges values by their own nodes, computed from the values that the run returned. A graph that
// rounds needs this: where float64 or the run rounds otherwise, all later values differ.
class LocalJudge {
 public:
  struct Verdict {
    // kNone if the value is wrong or cannot be judged.
    Basis basis = Basis::kNone;
    // Whether it is only right for values that are wrong themselves.
    bool follows_wrong = false;
    // One line; empty if the value could be judged.
    std::string not_judged = {};
  };

  virtual ~LocalJudge() = default;
  virtual Verdict judge(const std::string& name, const at::Tensor& value) = 0;
  // Called for each value in order, after it was judged; `value` is undefined if it was not
  // returned. One that is not `exact` is wrong, not judged, or rounded.
  virtual void add(const std::string& name, const at::Tensor& value, bool is_exact) = 0;
};

// Gives second opinions of values. Values outside the tolerance are not judged if they have no
// opinion because the graph may round otherwise, or if float64 is the reference; `local`, if any,
// may judge them. In a graph that rounds, it also judges values that differ too much.
struct NodeJudge {
  Float64Run& run;
  Criterion criterion = {};
  LocalJudge* local = nullptr;
  // If given, it alone judges values, and tells which ones are exonerated.
  OwnErrors* own = nullptr;
};

// A value outside the tolerance whose readers (nodes by index) are all right.
struct DoubtedValue {
  std::string name = {};
  std::vector<uint32_t> readers = {};
};

// For each value, whether it is exonerated: its error does not reach its readers.
using Exonerate = std::function<std::vector<bool>(const std::vector<DoubtedValue>& values)>;

// Compares `values`, a subset of the graph's compared_values. An exception of a run ends up in the
// report, with all values compared until then. Leaves Divergence::inputs empty.
//
// `exonerate` is called at most once, after the runs. A node is right if each of its values agrees,
// is exonerated, or was not returned and is only read by nodes that are right. A node that follows
// a wrong value shows that this value was in use. Outputs of the graph, and values that nothing
// reads, are never exonerated. A value that was rounded before it was returned is judged by the
// tolerance alone.
NodeReport compare_nodes(const Graph& graph, const std::vector<std::string>& values,
                         const ReferenceRun& reference, const ActualValue& actual,
                         const ToleranceRule& tolerance,
                         const std::optional<NodeJudge>& judge = std::nullopt,
                         const Exonerate& exonerate = nullptr);

}  // namespace torch_ir
