#include "harness/benchmark/addition_graphs.h"

#include <deque>
#include <string>
#include <utility>

namespace torch_ir {
namespace {

TensorMeta one_element(std::string name) {
  return {.name = name, .shape = {1}, .dtype = "float32", .producer_node = std::move(name)};
}

class Additions {
 public:
  Additions() {
    ir_.model_name = "Additions";
    ir_.graph_inputs = {one_element("x")};
  }

  const TensorMeta& input() const { return ir_.graph_inputs[0]; }

  TensorMeta add(const TensorMeta& a, const TensorMeta& b) {
    TensorMeta sum = one_element("add_" + std::to_string(ir_.nodes.size()));
    ir_.nodes.push_back({.name = sum.name,
                         .op_type = "aten.add.Tensor",
                         .inputs = {a, b},
                         .outputs = {sum},
                         .attrs = {}});
    return sum;
  }

  void output(const TensorMeta& value) { ir_.graph_outputs.push_back(value); }

  IR take() && { return std::move(ir_); }

 private:
  IR ir_;
};

IR chain(int64_t num_nodes, bool returns_all) {
  Additions graph;
  TensorMeta last = graph.input();
  for (int64_t i = 0; i < num_nodes; ++i) {
    last = graph.add(last, graph.input());
    if (returns_all || i + 1 == num_nodes) graph.output(last);
  }
  return std::move(graph).take();
}

}  // namespace

IR addition_chain(int64_t num_nodes) { return chain(num_nodes, /*returns_all=*/false); }

IR addition_chain_of_outputs(int64_t num_nodes) { return chain(num_nodes, /*returns_all=*/true); }

IR wide_additions(int64_t num_nodes) {
  Additions graph;
  std::deque<TensorMeta> row;
  for (int64_t i = 0; i < num_nodes / 2; ++i)
    row.push_back(graph.add(graph.input(), graph.input()));
  while (row.size() > 1) {
    row.push_back(graph.add(row[0], row[1]));
    row.erase(row.begin(), row.begin() + 2);
  }
  // A tree has one node less than its leaves.
  graph.output(graph.add(row[0], graph.input()));
  return std::move(graph).take();
}

}  // namespace torch_ir
