#include "torch_ir/base/failure_kind.h"

#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {

namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, kFailureKinds.size()> kNames = {
    "extract unsupported", "extract failed", "serialize mismatch", "load failed",
    "execute failed",      "unsupported",    "output mismatch",    "crashed",
    "timed out",           "out of memory"};

}  // namespace

std::string_view failure_kind_name(FailureKind kind) {
  return kNames.at(static_cast<size_t>(kind));
}

FailureKind parse_failure_kind(std::string_view name) {
  for (const FailureKind kind : kFailureKinds) {
    if (failure_kind_name(kind) == name) return kind;
  }
  throw Error("unknown failure kind '" + std::string(name) +
              "'; expected one of: " + quoted_list({kNames.begin(), kNames.end()}));
}

}  // namespace torch_ir
