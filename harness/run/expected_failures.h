// Expected failures: a list, in a file, of models that are known to fail.
//
//   # What the converter can not do yet.
//   TiedDecoder: extract unsupported: data-dependent masks
//   tiny_llama: output mismatch: rounds twice in bfloat16
//
// One line a model: its name, the kind of its failure (failure_kind.h), and why this is left so.
// A line goes before what the model has registered itself.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch_ir {

// By the name of the model.
using ExpectedFailures = std::map<std::string, ExpectedFailure>;

// The list in `text`, of which messages speak as `file`. `known` are the names that it may have,
// those of models that are not part of the run among them. Throws Error("FILE:LINE: ...").
ExpectedFailures parse_expected_failures(std::string_view text, const std::string& file,
                                         const std::vector<std::string>& known);

// The list in the file `path`.
ExpectedFailures read_expected_failures(const std::string& path,
                                        const std::vector<std::string>& known);

}  // namespace torch_ir
