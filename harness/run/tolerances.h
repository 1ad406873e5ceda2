// The thresholds that a team has agreed on (--tolerances), a line for each name or pattern
// (pattern_lines.h), of which a name comes before patterns, and the first pattern before others:
//
//   llama*: rtol 1e-3 atol 1e-4
//   resnet50_int8: snr 40 cosine 0.999
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/results/result.h"

namespace torch_ir {

struct AgreedTolerance {
  std::string name = {};
  int line = 0;
  std::optional<Tolerance> tolerance = std::nullopt;
  Threshold threshold = {};

  // Makes it the criterion of a run.
  void apply(RunSettings& settings) const;
};

struct AgreedTolerances {
  std::vector<AgreedTolerance> lines = {};

  // Null if no line is for `name`.
  const AgreedTolerance* find(std::string_view name) const;
};

// `file` is the name of the list in messages and on pages. Throws Error("FILE:LINE: ...").
AgreedTolerances parse_tolerances(std::string_view text, const std::string& file);

}  // namespace torch_ir
