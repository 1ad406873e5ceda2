#include "harness/results/case_result.h"

#include <algorithm>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {

std::string_view case_status_name(CaseStatus status) {
  switch (status) {
    case CaseStatus::kPassed:
      return "passed";
    case CaseStatus::kDiffers:
      return "differs";
    case CaseStatus::kUnsupported:
      return "unsupported";
    case CaseStatus::kFailed:
      return "failed";
    case CaseStatus::kCrashed:
      return "crashed";
    case CaseStatus::kTimedOut:
      return "timed out";
    case CaseStatus::kOutOfMemory:
      return "out of memory";
  }
  __builtin_unreachable();
}

CaseStatus parse_case_status(std::string_view name) {
  const auto status = std::ranges::find(kCaseStatuses, name, case_status_name);
  if (status == kCaseStatuses.end()) {
    throw Error("'" + printable(name) + "' is no status of a case");
  }
  return *status;
}

int64_t count_status(const std::vector<CaseResult>& cases, CaseStatus status) {
  return std::ranges::count(cases, status, &CaseResult::status);
}

bool all_good(const std::vector<CaseResult>& cases, bool requires_support) {
  return std::ranges::all_of(cases, [&](const CaseResult& it) {
    return it.passed() || (!requires_support && it.status == CaseStatus::kUnsupported);
  });
}

}  // namespace torch_ir
