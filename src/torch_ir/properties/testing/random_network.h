// Random small convolutional networks for level `fast`: convolutions followed by batch norms,
// activations and additions, in place or not, pooling, concatenation, gates and heads.
#pragma once

#include <iosfwd>

#include "torch_ir/properties/testing/random_moves.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {

struct NetworkMoves : RandomMoves {};

EagerGraph make_network(const NetworkMoves& moves);

void showValue(const NetworkMoves& moves, std::ostream& stream);

}  // namespace torch_ir

namespace rc {
template <>
struct Arbitrary<torch_ir::NetworkMoves> {
  static Gen<torch_ir::NetworkMoves> arbitrary() {
    return gen::construct<torch_ir::NetworkMoves>(torch_ir::any_moves(/*max_moves=*/12));
  }
};
}  // namespace rc
