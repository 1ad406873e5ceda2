// The failures of single calls by what they have in common, so that one fault of an executor is one
// line: the same edge case, dtypes and error, ignoring numbers and names.
#pragma once

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "harness/report/page_text.h"
#include "harness/results/result.h"

namespace torch_ir {

// A row for each cause, in this order: operators that are wrong for ordinary values (cases without
// a note, and calls of models) with their edge cases in the same dtype; then edge cases of
// operators that are right for ordinary values. Each part has the greatest first.
Table causes_table(const std::vector<Result>& cases,
                   size_t most = std::numeric_limits<size_t>::max());

// The same rows for a terminal.
std::vector<std::string> cause_lines(const std::vector<Result>& cases);

// "Faulty operators: `aten.layer_norm.default` in 10 of 10 calls." in Markdown, the most calls
// first. `nodes` are names. Empty if there are none.
std::string faulty_operators(const IR& graph, const std::set<std::string>& nodes);

}  // namespace torch_ir
