// find_failure: how a graph fails on a backend, if it does.
//
// For the search of a reproducer, which runs parts of a graph, and the whole of it, again.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/results/result.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

struct GraphFailure {
  // The first output that is wrong, and its tolerance; those of the first output for an error.
  std::string output = {};
  Tolerance tolerance = {};
  // One line.
  std::string message = {};
  // Whether it is an error, and not a wrong value.
  bool threw = false;
};

// Runs `ir` with the seed of `settings` and compares its outputs with `expected` by the tolerance
// of `settings`. Outputs of which `expected` says nothing, undefined or empty as it may be, are not
// compared. Throws OutputError only.
std::optional<GraphFailure> find_failure(Backend& backend, const IR& ir, const StateDict& weights,
                                         const std::vector<at::Tensor>& inputs,
                                         const std::vector<at::Tensor>& expected,
                                         const RunSettings& settings);

// Those of `weights`, known by state dict name or placeholder, that `ir` uses, by state dict name.
// What `weights` does not have is a constant of the graph.
StateDict used_weights(const IR& ir, const StateDict& weights);

}  // namespace torch_ir
