// Criterion and Basis: by which rule the values of a run are judged, and by which one is right.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "torch_ir/verifier/arithmetic.h"

namespace torch_ir {

// What makes a value right. kAuto: it is within the tolerance, or about as far from float64 as
// eager operators are. kModel: only the tolerance. kFloat64: only the latter, and the tolerance
// where float64 says nothing.
enum class ReferenceKind { kAuto, kModel, kFloat64 };

// "auto", "model", "float64".
std::string_view reference_name(ReferenceKind reference);

// Throws Error for an unknown name.
ReferenceKind parse_reference(std::string_view name);

// What a team has agreed on for the outputs of a model: nothing else decides.
struct Threshold {
  // "tolerances.txt:3".
  std::string place = {};
  // At least that, in dB, and at least that; without both, the tolerance.
  std::optional<double> signal_to_noise = std::nullopt;
  std::optional<double> cosine_similarity = std::nullopt;

  bool operator==(const Threshold&) const = default;
};

struct Criterion {
  ReferenceKind reference = ReferenceKind::kModel;
  // The arithmetic in which the run computed, if it is not that of the graph.
  std::optional<Arithmetic> arithmetic = std::nullopt;
  std::optional<Threshold> agreed = std::nullopt;

  bool operator==(const Criterion&) const = default;
};

// Why a value is right. kOwnError: it is what the graph makes of the values that the run returned
// before it (judge.h). kNone: it is wrong, or nothing judged it.
enum class Basis { kTolerance, kOwnError, kNone };
inline constexpr std::array kBases = {Basis::kTolerance, Basis::kOwnError, Basis::kNone};

// "tolerance", "own error", "none".
std::string_view basis_name(Basis basis);

// "within the tolerance", "right by its own error"; empty for kNone.
std::string_view basis_text(Basis basis);

}  // namespace torch_ir
