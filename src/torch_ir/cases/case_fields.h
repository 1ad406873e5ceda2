// The fields of cases, in suite.json and case.json, in results.json, and between processes.
#pragma once

#include "torch_ir/cases/suite_case.h"
#include "torch_ir/ir/field_list.h"
#include "torch_ir/ir/json_fields.h"

namespace torch_ir {

template <>
inline constexpr Naming kNaming<CaseProperty>{property_name, parse_property};

template <class Visit>
void fields(const Visit& visit, Tolerance& value) {
  visit.required("rtol", value.rtol);
  visit.required("atol", value.atol);
}

template <class Visit>
void fields(const Visit& visit, CaseOccurrence& value) {
  visit.required("model", value.model);
  visit.required("node", value.node);
  TORCH_IR_VISIT(module, source)
}

template <class Visit>
void fields(const Visit& visit, CaseInfo& info) {
  visit.required("name", info.name);
  visit.required("operator", info.op_type);
  visit.required("category", info.category);
  visit.required("dtype", info.dtype);
  visit.required("note", info.note);
  visit.required("compare", info.property);
  visit("tolerance", info.tolerance);
  if (Visit::kReads || info.tolerance) visit("tolerance_reason", info.tolerance_reason);
  visit.unless_empty("occurrences", info.occurrences);
}

}  // namespace torch_ir
