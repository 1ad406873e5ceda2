// The failures of single calls by what they have in common, so that one fault of an executor is one
// line: the same edge case, dtypes and error, ignoring numbers and names.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "harness/report/page_text.h"
#include "harness/results/result.h"

namespace torch_ir {

struct CauseLine {
  // "denormal (denormals)", "ordinary values, 3 edge cases".
  std::string what = {};
  int64_t num_cases = 0;
  std::string in_common = {};
  std::string first_error = {};
  // Cases of different operators.
  std::vector<std::string> examples = {};
};

// In this order, the greatest first: operators that are wrong for ordinary values (cases without a
// note, calls of models), with their edge cases in the same dtype; edge cases of the others.
std::vector<CauseLine> cause_lines(const std::vector<Result>& cases);

Table causes_table(const std::vector<Result>& cases,
                   size_t most = std::numeric_limits<size_t>::max());

// "Faulty operators: `aten.layer_norm.default` in 10 of 10 calls." in Markdown. `nodes` are names.
// Empty if there are none.
std::string faulty_operators(const IR& graph, const std::set<std::string>& nodes);

}  // namespace torch_ir
