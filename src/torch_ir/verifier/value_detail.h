// ValueDetail: what is known of a value of a run: the value of a node, an output, or state.
// Criterion and Basis: by which rule such values are judged, and by which one is right.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/verifier/arithmetic.h"
#include "torch_ir/verifier/compare.h"

namespace torch_ir {

// What makes a value right. kAuto: it is within the tolerance, or about as far from float64 as
// eager operators are. kModel: only the tolerance. kFloat64: only the latter, and the tolerance
// where float64 says nothing.
enum class ReferenceKind { kAuto, kModel, kFloat64 };
inline constexpr std::array kReferenceKinds = {ReferenceKind::kAuto, ReferenceKind::kModel,
                                               ReferenceKind::kFloat64};

// "auto", "model", "float64".
std::string_view reference_name(ReferenceKind reference);

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

// Of the values of a report, only so many are kept.
inline constexpr size_t kMaxDetails = 50;

struct ValueDetail {
  // The number of the node that makes it; nothing for a weight or input that the graph returns, or
  // if there is no graph.
  std::optional<int64_t> index = std::nullopt;
  std::string node = {};
  std::string op_type = {};
  // The name of the value: that of the node, or one of its several outputs.
  std::string value = {};
  // The path of the module that makes the call; empty if unknown.
  std::string module = {};
  // The line of the call, if the archive records it.
  std::string source = {};
  // The group that the executor computes the node in; empty for a node by itself.
  std::string group = {};
  // Its position among the outputs, if it is one; and if it is state, the placeholder or input
  // whose new value it is.
  std::optional<int64_t> output = std::nullopt;
  std::string state = {};
  // With the model's value.
  Tolerance tolerance = {};
  TensorComparison comparison = {};
  // Against the lanes (judge.h), if they judged it.
  std::optional<OwnError> own_error = std::nullopt;
  // Of whole numbers and float8 that are not the eager lane's.
  std::optional<StepCounts> steps = std::nullopt;
  Basis basis = Basis::kNone;
  // One line; empty if the value is right, or if nothing could judge it. Where only the tolerance
  // judged it, ends with the reason, after kToleranceAlone.
  std::string problem = {};
};

inline constexpr const char* kToleranceAlone = "; judged by the tolerance alone: ";

// "; judged by the tolerance alone: node 'n' (aten.rand.default) draws random numbers"; empty if it
// was judged.
std::string doubt_of(const ValueDetail& value);

// The names and the node of a value.
ValueDetail place_of(const Graph& graph, ValueId id);

// "aten.silu.default" as "silu".
std::string short_operator(const std::string& op_type);

// What comes before "(" or ";".
std::string first_clause(const std::string& text);

// Of the value of a node: "node 115, silu_7 in layers.3.mlp", "node 2, y (add) of the group g".
std::string place_text(const ValueDetail& value);

// How a value is wrong, in words: "0.1 % too large", "shape [2, 3], expected [2, 4]", "3 of 4
// elements wrong, by at most 0.5; judged by the tolerance alone: ...".
std::string cause_text(const ValueDetail& value);

}  // namespace torch_ir
