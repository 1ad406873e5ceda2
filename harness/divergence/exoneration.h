// exonerate: finds values that were only returned wrong, since the nodes that read them are right.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/divergence/reference_run.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {

// Returns copies of the values of `names` that another run of the nodes before `end` returns.
using ReturnedValues = std::function<std::unordered_map<std::string, at::Tensor>(
    const std::set<std::string>& names, size_t end)>;

// Exonerates a value if a reader of it is right, but would be wrong had it read this value. With
// `clears_ineffective`, also exonerates values that make no difference to any reader. Rounding
// reaches the readers. Throws OutputError only; values that could not be tried are not exonerated.
std::vector<bool> exonerate(const ExplainedRun& run, const ExplainedGraph& graph,
                            const std::vector<DoubtedValue>& values, bool clears_ineffective,
                            const ReturnedValues& returned_values);

}  // namespace torch_ir
