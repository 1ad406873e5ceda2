// Random graphs of small tensors: pointwise operators, products, reductions, views, in-place writes
// (to inputs, weights, and views), several outputs and dtypes, and calls at which a replay is cut.
//
// Eager calls build them and give the expected values.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "torch_ir/properties/testing/random_moves.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {

struct GraphMoves : RandomMoves {};

// Makes the graph for inputs of `rows` rows; `seed` only changes their values.
EagerGraph make_graph(const GraphMoves& moves, int64_t rows = 5, uint64_t seed = 0);

// Makes the graph for any number of rows, "s0"; empty if the calls depend on the sizes.
std::optional<IR> make_dynamic_graph(const GraphMoves& moves);

// Whether both make the same calls, ignoring sizes.
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
