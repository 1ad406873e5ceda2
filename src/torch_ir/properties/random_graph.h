// Random graphs of small tensors: pointwise operators, products, reductions, views, writes in place
// (to inputs, weights, views and all that is made of them), several outputs, several dtypes, and
// calls that a replay is cut at.
//
// Made by eager calls, which say what has to come out.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "torch_ir/executor/testing/eager_graph.h"
#include "torch_ir/properties/random_moves.h"

namespace torch_ir {

struct GraphMoves : RandomMoves {};

// The graph for inputs of `rows` rows; `seed` makes their values, and nothing else.
EagerGraph make_graph(const GraphMoves& moves, int64_t rows = 5, uint64_t seed = 0);

// The graph for any number of rows, "s0"; nothing where other calls are made of other sizes.
std::optional<IR> make_dynamic_graph(const GraphMoves& moves);

// Whether they make the same calls, maybe of other sizes.
bool make_same_calls(const IR& a, const IR& b);

void showValue(const GraphMoves& moves, std::ostream& stream);

}  // namespace torch_ir

namespace rc {
template <>
struct Arbitrary<torch_ir::GraphMoves> {
  static Gen<torch_ir::GraphMoves> arbitrary() {
    return gen::construct<torch_ir::GraphMoves>(torch_ir::any_moves(/*max_moves=*/14));
  }
};
}  // namespace rc
