// Fits the names of weights to those of a graph.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// As IR::tied_weights.
using TiedWeights = std::vector<std::vector<std::string>>;

// The names of `tensors` that have the same elements of one storage, in their order.
TiedWeights tied_names(const StateDict& tensors);

// Returns `weights` with each tied weight under all its names. Names with equal values become one
// tensor; names with different values stay as they are.
StateDict with_tied_names(StateDict weights, const TiedWeights& ties);

// As above. If no name is one of the graph's, but most are without or with one prefix ("module.",
// "_orig_mod.model."), that is left out or added, with a warning that says so; and so are wrappers
// inside of names ("body._orig_mod.0.weight").
StateDict with_graph_names(const StateDict& weights, const Program& program);

}  // namespace torch_ir
