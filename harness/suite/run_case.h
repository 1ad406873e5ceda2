// run_case: one case through extract, serialize, execute, verify.
//
// Called in a process that takes many cases; one that crashes it is the parent's to see.
#pragma once

#include "harness/backend/backend.h"
#include "harness/results/case_result.h"
#include "harness/suite/case_source.h"

namespace torch_ir {

// All but CaseResult::info. Never throws for what is wrong with the case or with who executes it. A
// case of the tables is also captured on the meta device, where this library executes it: shapes
// and attributes have to be what the call itself has.
CaseResult run_case(const CaseSource& source, Backend& backend, const RunSettings& settings);

}  // namespace torch_ir
