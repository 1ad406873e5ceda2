// The finding of a result: where it goes wrong and how, in one line that is the same in the
// terminal, on all pages and in JUnit. Statistics come after it, or are on the page of the model.
#pragma once

#include <cstddef>
#include <string>

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

}  // namespace torch_ir
