// ExpectedFailures: a file that lists models and cases that are known to fail, a line each
// (pattern_lines.h):
//
//   TiedDecoder: extract unsupported: data-dependent masks
//   aten.*/*/denormal: output mismatch: the chip has no denormals
//
// Each line has a name, the kind of the failure (failure_kind.h) and a reason. It overrides the
// expected failure that a model has registered. A pattern expects the failures of its kind; what it
// matches may pass. A name without `*` must fail as it says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/results/result.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

struct ExpectedFailures {
  struct Entry {
    // A name, or a pattern with `*`.
    std::string name = {};
    ExpectedFailure failure = {};
    // The lines with '#' right above it.
    std::string comments = {};
    int line = 0;

    // Whether `result` failed as the entry says.
    bool expects(const Result& result) const;
  };

  // In the order of the file.
  std::vector<Entry> entries = {};
  // The other comments, each block with a blank line below it.
  std::string comments = {};

  // The entry for `result`: its name, or else the first pattern of its failure. Null if there is
  // none.
  const Entry* find(const Result& result) const;
};

// `file` is the name of the list in messages. Throws Error("FILE:LINE: ...").
ExpectedFailures parse_expected_failures(std::string_view text, const std::string& file);

// Returns `failures` brought up to date: adds the unexpected failures in `results` with the reason
// "new", and drops entries that no longer fail, patterns only once all `known` names that they
// match have run. Where only the kind of a failure changed, the reason says what it was. Sorted by
// name.
ExpectedFailures updated(const ExpectedFailures& failures,
                         const std::vector<const Result*>& results,
                         const std::vector<std::string>& known);

// Returns the file; comments without an entry come first.
std::string to_text(const ExpectedFailures& failures);

}  // namespace torch_ir
