// Random small convolutional networks, as level `fast` takes them apart: convolutions with batch
// norms, activations and additions behind them, in place or not, pooling, concatenation, gates and
// heads.
#pragma once

#include <iosfwd>

#include "torch_ir/executor/testing/eager_graph.h"
#include "torch_ir/properties/recipe.h"

namespace torch_ir {

struct NetworkRecipe : Recipe {};

EagerGraph make_network(const NetworkRecipe& recipe);

void showValue(const NetworkRecipe& recipe, std::ostream& stream);

}  // namespace torch_ir

namespace rc {
template <>
struct Arbitrary<torch_ir::NetworkRecipe> {
  static Gen<torch_ir::NetworkRecipe> arbitrary() {
    return gen::construct<torch_ir::NetworkRecipe>(torch_ir::any_recipe(/*max_moves=*/12));
  }
};
}  // namespace rc
