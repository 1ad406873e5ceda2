#include "torch_ir/properties/testing/random_moves.h"

#include <ostream>
#include <string>

namespace torch_ir {
namespace {

// RapidCheck begins with small sizes, which would make all numbers 0.
rc::Gen<size_t> any_choice() {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<size_t>(0, 10'000));
}

rc::Gen<Move> any_move() {
  return rc::gen::construct<Move>(any_choice(), rc::gen::container<Choices>(any_choice()));
}

}  // namespace

rc::Gen<RandomMoves> any_moves(int max_moves) {
  return rc::gen::construct<RandomMoves>(
      rc::gen::resize(max_moves, rc::gen::container<std::vector<Move>>(any_move())),
      rc::gen::resize(3, rc::gen::container<std::vector<size_t>>(any_choice())));
}

void print_graph(const IR& ir, std::ostream& stream) {
  for (const OpNode& node : ir.nodes) {
    stream << '\n' << node.name << " = " << node.op_type << '(';
    std::string separator;
    for (const TensorMeta& input : node.inputs) {
      stream << separator << input.name;
      separator = ", ";
    }
    for (const auto& [name, value] : node.attrs) {
      stream << separator << name << '=' << value;
      separator = ", ";
    }
    stream << ')';
  }
  stream << "\noutputs";
  for (const TensorMeta& output : ir.graph_outputs) stream << ' ' << output.name;
}

}  // namespace torch_ir
