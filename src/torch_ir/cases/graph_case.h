// GraphCase: a small graph with all that is needed to run it and to judge what came out.
//
// One call of an operator from a table (models/operators), one call of a user's model (split.h), or
// a folder that either of them was written to (case_files.h). `harness --suite operators` and
// `--split` run them; nothing here knows who executes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/registry/operator_case.h"
#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

// Where a model makes a call.
struct CaseOccurrence {
  std::string model = {};
  std::string node = {};
  // "encoder.layers.0.attention", and "model.py:42"; empty where nobody recorded them.
  std::string module = {};
  std::string source = {};

  bool operator==(const CaseOccurrence&) const = default;
};

// What a case is, beside its tensors.
struct CaseInfo {
  // "aten.conv2d.default/float32/groups": operator, dtype, and what tells it from others of these.
  std::string name = {};
  std::string op_type = {};
  std::string category = {};
  // Of the first tensor, or of what is made; empty for a call without any.
  std::string dtype = {};
  // What makes it special, one line.
  std::string note = {};
  CaseProperty property = CaseProperty::kValues;
  // In place of default_tolerance of each output's dtype, and why.
  std::optional<Tolerance> tolerance = std::nullopt;
  std::string tolerance_reason = {};
  // In models, in their order; none for a case of the tables.
  std::vector<CaseOccurrence> occurrences = {};
};

struct GraphCase {
  CaseInfo info = {};
  IR ir = {};
  StateDict weights = StateDict();
  // One for each graph input, with the strides that they have in the model.
  std::vector<at::Tensor> inputs = {};
  // One for each graph output: what eager LibTorch computes.
  std::vector<at::Tensor> expected = {};
};

CaseInfo info_of(const OperatorCase& operator_case);

// Runs the operator of `operator_case` once, eagerly. Throws Error for one that LibTorch does not
// have or that does not take its arguments.
GraphCase make_graph_case(const OperatorCase& operator_case);

// The tolerances by which the outputs of a case are judged where nobody asks for others.
ToleranceRule tolerance_of(const CaseInfo& info);

}  // namespace torch_ir
