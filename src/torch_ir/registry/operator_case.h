// Operator cases: single calls of operators with what makes each special, the content of
// `harness --suite operators`.
//
// A file of models/operators registers those of a category. Nothing here knows what is done with
// them; expected values are eager LibTorch's, made when a case runs.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

// What is compared of the results of an operator that leaves a choice to its implementation.
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

// The inverse. Throws Error for another name.
CaseProperty parse_property(std::string_view name);

// What is compared, one line, for those who score an executor in another language.
std::string_view property_description(CaseProperty property);

struct OperatorCase {
  // "aten.conv2d.default"
  std::string op_type = {};
  // Of the first tensor, or of what it makes.
  c10::ScalarType dtype = c10::ScalarType::Float;
  // Tells cases of one operator and dtype apart: letters, digits, '_' ("groups", "empty").
  std::string variant = {};
  // "pointwise", "reduction", "convolution", ...
  std::string category = {};
  // What makes it special, one line ("two groups, uneven padding"); empty for the usual one.
  std::string note = {};
  // The arguments of the call, one for each of the schema. Tensors, also in lists, are the inputs
  // of the graph. The same each time, on every machine.
  std::function<std::vector<c10::IValue>()> arguments = {};
  CaseProperty property = CaseProperty::kValues;
  // In place of default_tolerance of the dtype of floating-point outputs, and why.
  std::optional<Tolerance> tolerance = std::nullopt;
  std::string tolerance_reason = {};

  // "aten.conv2d.default/float32/groups"
  std::string name() const;
};

// `outputs`, the results of a call of the case's operator, mapped to what is compared of them: two
// executors are right where these agree, within the tolerance. `arguments` are those of the call,
// with their values. Outputs are those that are defined, in order. Throws Error where they do not
// have the property at all, such as an index that is out of range.
std::vector<at::Tensor> compared_values(const OperatorCase& operator_case,
                                        const std::vector<c10::IValue>& arguments,
                                        const std::vector<at::Tensor>& outputs);

// Adds the cases that `make` gives. Made when first listed.
bool register_operator_cases(std::function<std::vector<OperatorCase>()> make);

// All of them, sorted by category, operator, dtype and variant. Throws Error, naming it, where a
// name is taken twice.
const std::vector<OperatorCase>& list_operator_cases();

// The case of that name. Throws Error where there is none.
const OperatorCase& find_operator_case(const std::string& name);

// What is compared of a call of `op_type` on any values, where nobody says it: of memory without
// values, of random numbers, and of indices that pick values among equals.
CaseProperty usual_property(std::string_view op_type);

}  // namespace torch_ir
