// Results of cases: single calls, of the operator suite or of models taken apart.
//
// Plain data, made by the processes that ran the cases, read by the reports. Many cases, so each is
// small: no graph, no tensors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/cases/graph_case.h"

namespace torch_ir {

enum class CaseStatus {
  kPassed,
  kDiffers,
  // Whoever executes says that it does not take the operator, or not so. No failure by itself.
  kUnsupported,
  // It can not be extracted, read or executed.
  kFailed,
  kCrashed,
  kTimedOut,
  kOutOfMemory,
};

inline constexpr std::array kCaseStatuses = {
    CaseStatus::kPassed,  CaseStatus::kDiffers,  CaseStatus::kUnsupported, CaseStatus::kFailed,
    CaseStatus::kCrashed, CaseStatus::kTimedOut, CaseStatus::kOutOfMemory};

// "passed", "differs", "unsupported", "failed", "crashed", "timed out", "out of memory".
std::string_view case_status_name(CaseStatus status);

// The inverse. Throws Error for another name.
CaseStatus parse_case_status(std::string_view name);

struct CaseResult {
  CaseInfo info = {};
  CaseStatus status = CaseStatus::kPassed;
  // Why it did not pass, one line.
  std::string message = {};
  // Over all outputs; nothing where there are none to compare.
  std::optional<double> max_diff = std::nullopt;
  std::optional<double> smallest_passing_tolerance = std::nullopt;

  bool passed() const { return status == CaseStatus::kPassed; }
};

// How many of them have `status`.
int64_t count_status(const std::vector<CaseResult>& cases, CaseStatus status);

// Whether none is worse than unsupported; with `requires_support` none but passed.
bool all_good(const std::vector<CaseResult>& cases, bool requires_support);

}  // namespace torch_ir
