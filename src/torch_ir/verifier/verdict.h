// ValueVerdict: whether a value of a run is right, and by which rule.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "torch_ir/verifier/arithmetic.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/second_opinion.h"

namespace torch_ir {

// The criterion for a value. kModel: it agrees with the model's within the tolerance. kFloat64: it
// is at most Criterion::error_factor times as far from the graph in float64 as eager's. kAuto: one
// of these holds, which is right for every dtype: a value of bfloat16 that was computed in float32
// may differ from eager's because it is better.
enum class ReferenceKind { kAuto, kModel, kFloat64 };

// "auto", "model", "float64".
std::string_view reference_name(ReferenceKind reference);

// Throws Error for an unknown name.
ReferenceKind parse_reference(std::string_view name);

struct Criterion {
  ReferenceKind reference = ReferenceKind::kModel;
  double error_factor = kDefaultErrorFactor;
  // The arithmetic in which the executor computes, if it is not that of the graph. The criterion is
  // then the yardstick (yardstick.h).
  std::optional<Arithmetic> arithmetic = std::nullopt;

  bool operator==(const Criterion&) const = default;
};

// The rule by which a value is right, the strongest first. kArithmetic: it is about as far from
// float64 as the yardstick. kRounding: the graph computes it from values that the run rounded
// correctly (rounding.h).
enum class Basis { kTolerance, kFloat64, kArithmetic, kRounding, kNone };
inline constexpr std::array kBases = {Basis::kTolerance, Basis::kFloat64, Basis::kArithmetic,
                                      Basis::kRounding, Basis::kNone};

// "tolerance", "float64", "arithmetic", "rounding", "none".
std::string_view basis_name(Basis basis);

// "within the tolerance", "near enough to float64", "right for the compute dtype", "within rounding
// steps"; empty for kNone.
std::string_view basis_text(Basis basis);

struct ValueVerdict {
  Basis basis = Basis::kNone;
  // One line; empty if the value is right.
  std::string problem = {};
};

// `opinion` may be null. Tensors that cannot be compared elementwise are always wrong, and so are
// integers outside the tolerance, whatever float64 says.
ValueVerdict judge(const TensorComparison& comparison, const SecondOpinion* opinion,
                   const Criterion& criterion);

}  // namespace torch_ir
