// Failures by what they have in common, so that one fault of an executor is one line: models and
// their calls by operator and finding; cases of the suite by edge case, dtypes and error. Numbers
// and names in errors do not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/results/result.h"

namespace torch_ir {

struct FailureCause {
  // "silu, 0.1 % too large", "denormal (denormals), nan, expected 0".
  std::string what = {};
  // Names, in order.
  std::vector<std::string> models = {};
  int64_t num_calls = 0;
  // Of the suite: "in float16; 12 of 57 operators of reduction".
  std::string in_common = {};
  // Calls, of different operators.
  std::vector<std::string> examples = {};

  // "3 models, 12 calls".
  std::string count_text() const;
};

// In this order, the greatest first: causes of models, with their calls; operators that are wrong
// for ordinary values (cases without a note), with their edge cases in the same dtype; edge cases
// of the others.
std::vector<FailureCause> failure_causes(const std::vector<Result>& models,
                                         const std::vector<Result>& cases);

// For a terminal, a line each: "  silu, 0.1 % too large: 2 models: Llama, Mamba".
std::string causes_lines(const std::vector<FailureCause>& causes, size_t most);

}  // namespace torch_ir
