// The finding of a result: where it goes wrong and how, in one line that is the same in the
// terminal, on all pages and in JUnit. Statistics come after it, or are on the page of the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/results/result.h"

namespace torch_ir {

inline constexpr size_t kMaxFinding = 160;

struct Finding {
  // The operator without its namespace and overload, "silu"; empty if it is unknown.
  std::string op = {};
  // "node 115, silu_7 in layers.3.mlp"; empty if it is unknown.
  std::string place = {};
  // "0.1 % too large", "shape [2, 3], expected [2, 4]", "crashed in execute: ..."; empty if there
  // is nothing to say.
  std::string cause = {};

  // "silu, 0.1 % too large", by which failures are grouped.
  std::string what() const;
  // Printable, at most kMaxFinding characters, or for an error without a place as long as a
  // headline.
  std::string text() const;
};

Finding finding_of(const Result& result);

// For GitHub: "::error file=model.py,line=12,title=Llama::node 53, silu: 0.1 % too large", with
// file and line if the archive records them.
std::string annotation(const Result& result);

// Failures by what they have in common, so that one fault of an executor is one line: models and
// their calls by operator and finding; cases of the suite by edge case, dtypes and error. Numbers
// and names in errors do not count.
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
};

// In this order, the greatest first: causes of models, with their calls; operators that are wrong
// for ordinary values (cases without a note), with their edge cases in the same dtype; edge cases
// of the others.
std::vector<FailureCause> failure_causes(const std::vector<Result>& models,
                                         const std::vector<Result>& cases);

// For a terminal, a line each: "  silu, 0.1 % too large: 2 models: Llama, Mamba".
std::string causes_lines(const std::vector<FailureCause>& causes, size_t most);

}  // namespace torch_ir
