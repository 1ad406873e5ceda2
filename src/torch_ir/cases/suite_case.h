// SuiteCase: a case of a suite, with its description.
//
// It is one call of an operator from a table (models/operators), one call of a user's model
// (split.h), or a folder with either (case_files.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/registry/operator_case.h"
#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

struct CaseOccurrence {
  std::string model = {};
  std::string node = {};
  // "encoder.layers.0.attention" and "model.py:42"; empty if not recorded.
  std::string module = {};
  std::string source = {};

  bool operator==(const CaseOccurrence&) const = default;
};

struct CaseInfo {
  // "aten.conv2d.default/float32/groups": operator, dtype, and a distinguishing part.
  std::string name = {};
  std::string op_type = {};
  std::string category = {};
  // The dtype of the first tensor, or of the result; empty for a call without tensors.
  std::string dtype = {};
  // The special feature of the case, one line.
  std::string note = {};
  CaseProperty property = CaseProperty::kValues;
  // Replaces default_tolerance of each output's dtype, with the reason.
  std::optional<Tolerance> tolerance = std::nullopt;
  std::string tolerance_reason = {};
  // In the order of the models; empty for a case of the tables.
  std::vector<CaseOccurrence> occurrences = {};
};

struct SuiteCase {
  CaseInfo info = {};
  // The inputs have the strides of the model, and eager LibTorch computed the expected outputs.
  Case content = {};
};

CaseInfo info_of(const OperatorCase& operator_case);

// Runs the operator of `operator_case` once, eagerly. Throws Error if LibTorch lacks it or it
// rejects its arguments.
SuiteCase make_suite_case(const OperatorCase& operator_case);

// The default tolerances for the outputs of a case.
ToleranceRule tolerance_of(const CaseInfo& info);

}  // namespace torch_ir
