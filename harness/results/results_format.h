// What writer and reader of results.json have in common.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "harness/results/result.h"

namespace torch_ir {

inline constexpr std::string_view kResultsFormat = "torch-ir results";
// To be raised when a key goes, or means something else. One that is new raises nothing: readers
// pass over keys that they do not know.
inline constexpr int64_t kResultsVersion = 1;

inline constexpr std::array kStatuses = {Status::kPassed, Status::kFailed, Status::kExpectedFailure,
                                         Status::kUnexpectedPass};

}  // namespace torch_ir
