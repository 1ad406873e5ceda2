// The fields of the results of cases, as result_fields.h has those of models.
#pragma once

#include "harness/results/case_result.h"
#include "harness/results/json_fields.h"

namespace torch_ir {

template <>
struct Names<CaseStatus> {
  static constexpr auto name = case_status_name;
  static constexpr auto parse = parse_case_status;
};

template <class Visit>
void fields(const Visit& visit, CaseOccurrence& occurrence) {
  visit.required("model", occurrence.model);
  visit.required("node", occurrence.node);
  visit("module", occurrence.module);
  visit("source", occurrence.source);
}

template <class Visit>
void fields(const Visit& visit, CaseResult& result) {
  visit.required("name", result.info.name);
  visit.required("operator", result.info.op_type);
  visit.required("category", result.info.category);
  visit.required("dtype", result.info.dtype);
  visit("note", result.info.note);
  visit.required("status", result.status);
  visit("message", result.message);
  visit.nullable("max_diff", result.max_diff);
  visit.nullable("smallest_passing_tolerance", result.smallest_passing_tolerance);
  visit("occurrences", result.info.occurrences);
}

}  // namespace torch_ir
