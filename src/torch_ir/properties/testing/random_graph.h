// Random graphs for properties, and their recipes, which RapidCheck makes and shrinks.
//
// Any list of numbers is a recipe, and its moves are independent, so that dropping moves shrinks
// the graph. Eager calls build the graphs and give the expected values.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <vector>

#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {

using Choices = std::array<size_t, 4>;

// The builder of the graph decides what the numbers mean.
struct Move {
  size_t kind;
  Choices choices;
};

struct RandomMoves {
  std::vector<Move> moves;
  // The values that are outputs, besides the last one.
  std::vector<size_t> outputs;
};

rc::Gen<RandomMoves> any_moves(int max_moves);

template <class T>
const T& pick(const std::vector<T>& items, size_t choice) {
  return items[choice % items.size()];
}

// Graphs of small tensors: pointwise operators, products, reductions, views, in-place writes (to
// inputs, weights, and views), several outputs and dtypes, and calls at which a replay is cut.
struct GraphMoves : RandomMoves {};

// Makes the graph for inputs of `rows` rows; `seed` only changes their values.
EagerGraph make_graph(const GraphMoves& moves, int64_t rows = 5, uint64_t seed = 0);

// Makes the graph for any number of rows, "s0"; empty if the calls depend on the sizes.
std::optional<IR> make_dynamic_graph(const GraphMoves& moves);

// Whether both make the same calls, ignoring sizes.
bool make_same_calls(const IR& a, const IR& b);

// Small convolutional networks for level `fast`: convolutions followed by batch norms, activations
// and additions, in place or not, pooling, concatenation, gates and heads.
struct NetworkMoves : RandomMoves {};

EagerGraph make_network(const NetworkMoves& moves);

// "n1 = aten.add_.Tensor(n0, p_w)", a line for each node of the graph, then the outputs.
void showValue(const GraphMoves& moves, std::ostream& stream);
void showValue(const NetworkMoves& moves, std::ostream& stream);

}  // namespace torch_ir

namespace rc {
template <>
struct Arbitrary<torch_ir::GraphMoves> {
  static Gen<torch_ir::GraphMoves> arbitrary() {
    return gen::construct<torch_ir::GraphMoves>(torch_ir::any_moves(/*max_moves=*/14));
  }
};

template <>
struct Arbitrary<torch_ir::NetworkMoves> {
  static Gen<torch_ir::NetworkMoves> arbitrary() {
    return gen::construct<torch_ir::NetworkMoves>(torch_ir::any_moves(/*max_moves=*/12));
  }
};
}  // namespace rc
