// Operator cases: single calls of operators, the content of `harness --suite operators`.
//
// Each file of models/operators registers the cases of a category. Expected values are eager
// LibTorch's, computed when a case runs.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/tolerance.h"

namespace torch_ir {

// How to compare the results of an operator that leaves choices to its implementation.
enum class CaseProperty {
  kValues,
  kShape,
  kFinite,
  kUnitInterval,
  kZeroOrOne,
  kInRange,
  kPermutation,
  kDropout,
  kPickedValues,
  kPickedInPlane,
  kMagnitudes,
};

// "picked_values"
std::string_view property_name(CaseProperty property);

// Throws Error for an unknown name.
CaseProperty parse_property(std::string_view name);

// One line that describes the comparison, for people who score an executor in another language.
std::string_view property_description(CaseProperty property);

struct OperatorCase {
  // "aten.conv2d.default"
  std::string op_type = {};
  // The dtype of the first tensor, or of the result.
  c10::ScalarType dtype = c10::ScalarType::Float;
  // Distinguishes cases of one operator and dtype: letters, digits, '_' ("groups", "empty").
  std::string variant = {};
  // "pointwise", "reduction", "convolution", ...
  std::string category = {};
  // The special feature of the case, one line ("two groups, uneven padding"); empty for the usual
  // case.
  std::string note = {};
  // Makes the arguments of the call, one for each of the schema, the same each time and on every
  // machine. Tensors, also in lists, become the inputs of the graph.
  std::function<std::vector<c10::IValue>()> arguments = {};
  CaseProperty property = CaseProperty::kValues;
  // Replaces default_tolerance of the dtype of floating-point outputs, with the reason.
  std::optional<Tolerance> tolerance = std::nullopt;
  std::string tolerance_reason = {};

  // "aten.conv2d.default/float32/groups"
  std::string name() const;
};

// Maps `outputs`, the results of a call of the case's operator, to the values to compare: two
// executors are right if these agree within the tolerance. `arguments` are those of the call, with
// their values. Outputs are those that are defined, in order. Throws Error if they lack the
// property, such as an index that is out of range.
std::vector<at::Tensor> compared_values(const OperatorCase& operator_case,
                                        const std::vector<c10::IValue>& arguments,
                                        const std::vector<at::Tensor>& outputs);

// Adds the cases that `make` returns. It is called when cases are first listed.
bool register_operator_cases(std::function<std::vector<OperatorCase>()> make);

// All cases, sorted by category, operator, dtype and variant. Throws Error for a duplicate name.
const std::vector<OperatorCase>& list_operator_cases();

// Throws Error for an unknown name.
const OperatorCase& find_operator_case(const std::string& name);

// The default property for a call of `op_type` on arbitrary values: calls may return memory without
// values, random numbers, or indices that pick among equal values.
CaseProperty usual_property(std::string_view op_type);

}  // namespace torch_ir
