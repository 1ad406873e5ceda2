// diff: finds the changes between two graphs.
//
// The result is plain data in a stable order: model, inputs, weights and constants, operators in
// execution order, outputs. Names shift when an operator is added or removed, so operators are
// matched by their calls (diff_match.h), and a new name or module path alone is not a change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

enum class ChangeKind {
  kModelName,
  kPytorchVersion,
  kInputAdded,
  kInputRemoved,
  // Its name, shape or dtype.
  kInputChanged,
  // An input that is fixed in the graph.
  kConstantInput,
  // The known range of a symbol.
  kRange,
  kGuard,
  kWeightAdded,
  kWeightRemoved,
  // Its shape or dtype; or its values, which only diff_weights compares.
  kWeightChanged,
  // The weight of a placeholder.
  kWeightMapping,
  kConstantAdded,
  kConstantRemoved,
  // Its values, shape or dtype.
  kConstantChanged,
  kOperatorAdded,
  kOperatorRemoved,
  // A different operator in the same place.
  kOperatorReplaced,
  // The same call, earlier or later.
  kOperatorMoved,
  // Without Change::name.
  kOperatorRenamed,
  kAttribute,
  kModulePath,
  // The values that an operator takes.
  kOperatorInputs,
  // Shape or dtype of a value that an operator makes.
  kShape,
  kOutputAdded,
  kOutputRemoved,
  // The value that is returned.
  kOutputChanged,
};

// "operator added", "attribute changed", ...; in the plural, "operators added".
std::string change_kind_name(ChangeKind kind, bool is_plural = false);

struct Change {
  ChangeKind kind = ChangeKind::kModelName;
  // For a change inside a condition or a loop: "cond, graph 1". Empty otherwise.
  std::string graph = {};
  // The operator, input, weight, ...; the new name if it has one.
  std::string name = {};
  std::string op_type = {};
  // The attribute, input or result.
  std::string property = {};
  // As text; empty if absent.
  std::string before = {};
  std::string after = {};

  bool operator==(const Change&) const = default;
};

struct GraphDiff {
  std::vector<Change> changes = {};
  // Other names and module paths (kOperatorRenamed, kModulePath), which do not change the
  // computation.
  std::vector<Change> renames = {};
  // For each node of the new graph, its partner in the old one.
  std::vector<std::optional<size_t>> old_of_new = {};

  bool is_equal() const { return changes.empty(); }
};

GraphDiff diff(const Program& old, const Program& now);

// How two tensors differ: "1.5 at [0, 1]" and "2, 3 of 6 elements differ, by up to 0.5", or their
// dtypes and shapes. Equal texts if all elements are equal bit by bit, or NaN.
std::pair<std::string, std::string> tensors_text(const at::Tensor& old, const at::Tensor& now);

// Adds the weights whose values differ, of those that both have in the same form. Weights on the
// meta device have none.
void diff_weights(GraphDiff& diff, const StateDict& old, const StateDict& now);

// "conv2d_1 (aten.conv2d.default): stride [1, 1] -> [2, 2]"
std::string change_text(const Change& change);

// "no difference", or "2 operators added, 1 attribute changed"; then "; 14 operators renamed, 2
// module paths changed".
std::string summary_text(const GraphDiff& diff);

}  // namespace torch_ir
