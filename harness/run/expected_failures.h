// ExpectedFailures: a file that lists models and cases that are known to fail.
//
//   # Not supported by the converter yet.
//   TiedDecoder: extract unsupported: data-dependent masks
//   tiny_llama: output mismatch: rounds twice in bfloat16
//
// Each line has a name, the kind of the failure (failure_kind.h) and a reason. It overrides the
// expected failure that a model has registered.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch_ir {

// Keyed by model name.
using ExpectedFailures = std::map<std::string, ExpectedFailure>;

// `file` is the name of the list in messages. `known` has the valid names, also of models that do
// not run. Throws Error("FILE:LINE: ...").
ExpectedFailures parse_expected_failures(std::string_view text, const std::string& file,
                                         const std::vector<std::string>& known);

ExpectedFailures read_expected_failures(const std::string& path,
                                        const std::vector<std::string>& known);

}  // namespace torch_ir
