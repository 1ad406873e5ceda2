// RandomMoves: what a random graph is made of, as RapidCheck makes and shrinks it.
//
// Any list of numbers is a recipe, and each of its moves stands for itself, so that a graph becomes
// smaller by leaving moves out. What a number means is up to who builds the graph.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstddef>
#include <iosfwd>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

using Choices = std::array<size_t, 4>;

// Which move, and what it is made with.
struct Move {
  size_t kind;
  Choices choices;
};

struct RandomMoves {
  std::vector<Move> moves;
  // Which values are outputs, beside the last one.
  std::vector<size_t> outputs;
};

rc::Gen<RandomMoves> any_moves(int max_moves);

// "n1 = aten.add_.Tensor(n0, p_w)", a line for each node, then the outputs.
void print_graph(const IR& ir, std::ostream& stream);

// One of several, whatever the choice is.
template <class T>
const T& pick(const std::vector<T>& items, size_t choice) {
  return items[choice % items.size()];
}

}  // namespace torch_ir
