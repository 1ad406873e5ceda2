#include "torch_ir/verifier/verdict.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// By ReferenceKind, and by Basis.
constexpr std::string_view kReferenceNames[] = {"auto", "model", "float64"};
constexpr std::string_view kBasisNames[] = {"tolerance", "own error", "none"};
constexpr std::string_view kBasisTexts[] = {"within the tolerance", "right by its own error", ""};

}  // namespace

std::string_view reference_name(ReferenceKind reference) {
  return kReferenceNames[static_cast<size_t>(reference)];
}

ReferenceKind parse_reference(std::string_view name) {
  const auto* found = std::ranges::find(kReferenceNames, name);
  if (found != std::end(kReferenceNames)) {
    return static_cast<ReferenceKind>(found - kReferenceNames);
  }
  throw Error("unknown reference '" + printable(name) + "'; expected auto, model or float64");
}

std::string_view basis_name(Basis basis) { return kBasisNames[static_cast<size_t>(basis)]; }

std::string_view basis_text(Basis basis) { return kBasisTexts[static_cast<size_t>(basis)]; }

}  // namespace torch_ir
