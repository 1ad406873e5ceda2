// explain: where a graph computes something else than its model, and the smallest part of it that
// shows it.
//
// Called by run_candidate for a model whose outputs do not agree, or when the settings ask for it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/results/result.h"
#include "harness/stages/candidate.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {

struct Explanation {
  NodeReport nodes = {};
  // Nothing where nothing failed, or the graph does not fail again: `nodes` says so then.
  std::optional<Reproducer> reproducer = std::nullopt;
};

// Runs `candidate` and `backend` side by side on `inputs`, value by value, and, where the outputs
// of `ir` `failed`, looks for a reproducer and writes its files to `directory`, which is made
// then. `expected` is what these outputs were compared with, undefined where nothing says it; empty
// for a run that ended with an error before. `settings` has the tolerance in effect and the seed of
// operators that draw random numbers.
// `on_nodes` gets what is known of the nodes before the search, which may take long.
//
// Whatever model or backend do wrong on the way is in NodeReport::error. Throws OutputError only,
// when files can not be written.
Explanation explain(Candidate& candidate, const IR& ir, const StateDict& weights,
                    const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& expected,
                    Backend& backend, const RunSettings& settings, bool failed,
                    const std::string& directory,
                    const std::function<void(const NodeReport&)>& on_nodes = nullptr);

}  // namespace torch_ir
