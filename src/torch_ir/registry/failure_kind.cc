#include "torch_ir/registry/failure_kind.h"

#include <string>

#include "torch_ir/base/error.h"

namespace torch_ir {

std::string_view failure_kind_name(FailureKind kind) {
  switch (kind) {
    case FailureKind::kExtractUnsupported:
      return "extract unsupported";
    case FailureKind::kExtractFailed:
      return "extract failed";
    case FailureKind::kSerializeMismatch:
      return "serialize mismatch";
    case FailureKind::kLoadFailed:
      return "load failed";
    case FailureKind::kExecuteFailed:
      return "execute failed";
    case FailureKind::kOutputMismatch:
      return "output mismatch";
    case FailureKind::kCrashed:
      return "crashed";
    case FailureKind::kTimedOut:
      return "timed out";
    case FailureKind::kOutOfMemory:
      return "out of memory";
  }
  return "";
}

FailureKind parse_failure_kind(std::string_view name) {
  std::string known;
  for (const FailureKind kind : kFailureKinds) {
    if (failure_kind_name(kind) == name) return kind;
    known += (known.empty() ? "'" : "', '") + std::string(failure_kind_name(kind));
  }
  throw Error("'" + std::string(name) + "' is no kind of failure: there are " + known + "'");
}

}  // namespace torch_ir
