#include "torch_ir/verifier/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

// By ReferenceKind, and by Basis.
constexpr std::string_view kReferenceNames[] = {"auto", "model", "float64"};
constexpr std::string_view kBasisNames[] = {"tolerance", "float64", "arithmetic", "rounding",
                                            "none"};
constexpr std::string_view kBasisTexts[] = {"within the tolerance", "near enough to float64",
                                            "right for the compute dtype", "within rounding steps",
                                            ""};

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

ValueVerdict judge(const TensorComparison& comparison, const SecondOpinion* opinion,
                   const Criterion& criterion) {
  const auto dtype = find_dtype(comparison.dtype);
  const bool is_unequal_integer = !comparison.is_close && dtype && compares_exactly(*dtype);
  const bool may_use_float64 = comparison.mismatch.empty() && !is_unequal_integer;
  const bool by_float64 = criterion.reference == ReferenceKind::kFloat64 && may_use_float64;
  if (comparison.is_close && !by_float64) return {.basis = Basis::kTolerance};
  std::string problem;
  if (!by_float64) {
    std::ostringstream text;
    text << comparison;
    problem = text.str();
    if (!may_use_float64 || criterion.reference == ReferenceKind::kModel || opinion == nullptr) {
      return {.problem = problem};
    }
    problem += "; ";
  }
  const std::string complaint = opinion_problem(*opinion, criterion.error_factor);
  if (complaint.empty()) return {.basis = Basis::kFloat64};
  return {.problem = problem + complaint};
}

}  // namespace torch_ir
