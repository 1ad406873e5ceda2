// explain: finds where a graph first differs from its model, and the smallest part that shows it.
#pragma once

#include <functional>
#include <optional>

#include "harness/backend/backend.h"
#include "harness/divergence/reproducer.h"
#include "harness/results/result.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {

struct Explanation {
  NodeReport nodes = {};
  // Empty if nothing failed or the failure does not recur; `nodes` then has a note.
  std::optional<Reproducer> reproducer = std::nullopt;
};

// Compares the model and `backend` value by value and, if the outputs `failed`, looks for a
// reproducer. `on_nodes` gets the result before that search, which may take long. Errors of the
// model or the backend go to NodeReport::error. Throws OutputError only.
Explanation explain(const ExplainedRun& run, Backend& backend, bool failed,
                    const std::function<void(const NodeReport&)>& on_nodes = nullptr);

// The name of the first value that differs between two runs of the graph on equal inputs, of at
// most `num_runs`; empty if none is seen to, or the backend returns no values.
std::string first_varying_value(Backend& backend, const Case& graph_case, uint64_t seed,
                                int num_runs);

}  // namespace torch_ir
