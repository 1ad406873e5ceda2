// FailureKind: the ways in which a model can fail, a closed list.
//
// Named by a registration that expects its model to fail, by results, and by every report.
#pragma once

#include <array>
#include <string_view>

namespace torch_ir {

enum class FailureKind {
  // The model or archive uses what cannot be a graph here; the message names it.
  kExtractUnsupported,
  kExtractFailed,
  // The IR that was read is not the one that was written.
  kSerializeMismatch,
  // The IR, its weights or its inputs cannot be read, or do not fit each other.
  kLoadFailed,
  // The graph, or the model that it is compared with, cannot be run.
  kExecuteFailed,
  kOutputMismatch,
  // The process of the model ended before it was done.
  kCrashed,
  kTimedOut,
  kOutOfMemory,
};

inline constexpr auto kFailureKinds = [] {
  std::array<FailureKind, static_cast<size_t>(FailureKind::kOutOfMemory) + 1> kinds = {};
  for (size_t i = 0; i < kinds.size(); ++i) kinds[i] = static_cast<FailureKind>(i);
  return kinds;
}();

// "extract unsupported", "output mismatch", "timed out", ...
std::string_view failure_kind_name(FailureKind kind);

// The inverse. Throws Error, naming all of them, for another name.
FailureKind parse_failure_kind(std::string_view name);

}  // namespace torch_ir
