// FailureKind: the ways in which a model can fail.
#pragma once

#include <array>
#include <string_view>

namespace torch_ir {

enum class FailureKind {
  // The model or archive uses what a graph cannot express; the message names it.
  kExtractUnsupported,
  kExtractFailed,
  // The IR that was read differs from the one that was written.
  kSerializeMismatch,
  // The IR, its weights or its inputs cannot be read, or do not fit each other.
  kLoadFailed,
  // The graph, or the model that it is compared with, cannot be run.
  kExecuteFailed,
  // The backend does not support the graph, and the run requires that.
  kUnsupported,
  kOutputMismatch,
  // The process of the model ended early.
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

// Throws Error, listing all names, for an unknown one.
FailureKind parse_failure_kind(std::string_view name);

}  // namespace torch_ir
