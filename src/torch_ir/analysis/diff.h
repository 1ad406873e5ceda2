// diff: what changed between two graphs, in words.
//
// Called by `torch-ir diff` and by the harness, where it is given the results of an earlier run.
// Plain data in a stable order: of the model, inputs, weights and constants first, then operators
// in execution order, then outputs. Names of values are labels, which shift when an operator comes
// or goes: operators are matched by what they are (diff_match.h), and those that only have another
// name are no change. Neither graph has to be well formed.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

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
  // What is known about a symbol.
  kRange,
  kWeightAdded,
  kWeightRemoved,
  kWeightChanged,
  // Which weight a placeholder is.
  kWeightMapping,
  kConstantAdded,
  kConstantRemoved,
  // Its values, shape or dtype.
  kConstantChanged,
  kOperatorAdded,
  kOperatorRemoved,
  // Another operator in the same place.
  kOperatorReplaced,
  // The same call, earlier or later.
  kOperatorMoved,
  kAttribute,
  // Which values an operator takes.
  kOperatorInputs,
  // Shape or dtype of what an operator makes or takes.
  kShape,
  kOutputAdded,
  kOutputRemoved,
  // Which value it is.
  kOutputChanged,
};

// "operator added", "attribute changed", ...
std::string change_kind_name(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kModelName;
  // Of a change inside a condition or a loop, where: "cond, graph 1". Empty in the graph itself.
  std::string graph = {};
  // Of the operator, input, weight, ...: the new name where it has one.
  std::string name = {};
  // Of an operator.
  std::string op_type = {};
  // Which attribute, which input, which result.
  std::string property = {};
  // As text; empty for what was not there.
  std::string before = {};
  std::string after = {};

  bool operator==(const Change&) const = default;
};

// An operator that has another name.
struct Rename {
  std::string graph = {};
  std::string before = {};
  std::string after = {};

  bool operator==(const Rename&) const = default;
};

struct GraphDiff {
  std::vector<Change> changes = {};
  // These alone make no difference.
  std::vector<Rename> renames = {};

  bool is_equal() const { return changes.empty(); }
};

GraphDiff diff(const IR& old, const IR& now);

// One line: "conv2d_1 (aten.conv2d.default): stride [1, 1] -> [2, 2]".
std::string change_text(const Change& change);

// "no difference", or "2 operators added, 1 attribute changed"; "; 14 nodes renamed".
std::string summary_text(const GraphDiff& diff);

}  // namespace torch_ir
