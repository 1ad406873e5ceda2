// Expected failures: a file that lists models known to fail.
//
//   # What the converter cannot do yet.
//   TiedDecoder: extract unsupported: data-dependent masks
//   tiny_llama: output mismatch: rounds twice in bfloat16
//
// Each line has a model, the kind of its failure (failure_kind.h) and a reason. It overrides what
// the model has registered.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch_ir {

// Keyed by model name.
using ExpectedFailures = std::map<std::string, ExpectedFailure>;

// `file` names the list in messages. `known` are the valid names, even of models outside the run.
// Throws Error("FILE:LINE: ...").
ExpectedFailures parse_expected_failures(std::string_view text, const std::string& file,
                                         const std::vector<std::string>& known);

ExpectedFailures read_expected_failures(const std::string& path,
                                        const std::vector<std::string>& known);

}  // namespace torch_ir
