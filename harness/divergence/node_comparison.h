// explain: where a graph computes something else than its model, and the smallest part of it that
// shows it.
//
// Called by run_candidate for a model whose outputs do not agree, or when the settings ask for it.
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
  // Nothing where nothing failed, or the graph does not fail again: `nodes` says so then.
  std::optional<Reproducer> reproducer = std::nullopt;
};

// Runs the model and `backend` side by side, value by value, and, where the outputs `failed`, looks
// for a reproducer. `on_nodes` gets what is known of the nodes before the search, which may take
// long.
//
// Whatever model or backend do wrong on the way is in NodeReport::error. Throws OutputError only,
// when files can not be written.
Explanation explain(const ExplainedRun& run, Backend& backend, bool failed,
                    const std::function<void(const NodeReport&)>& on_nodes = nullptr);

}  // namespace torch_ir
