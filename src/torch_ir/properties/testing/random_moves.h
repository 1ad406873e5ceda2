// RandomMoves: the recipe of a random graph, as RapidCheck makes and shrinks it.
//
// Any list of numbers is a recipe, and its moves are independent, so that dropping moves shrinks
// the graph. Its builder decides what a number means.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstddef>
#include <iosfwd>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

using Choices = std::array<size_t, 4>;

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

// "n1 = aten.add_.Tensor(n0, p_w)", a line for each node, then the outputs.
void print_graph(const IR& ir, std::ostream& stream);

template <class T>
const T& pick(const std::vector<T>& items, size_t choice) {
  return items[choice % items.size()];
}

}  // namespace torch_ir
