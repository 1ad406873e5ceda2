// Random small graphs of pointwise operators, matrix products, views and in-place operators: the
// plan gives the bits that eager calls give, and leaves inputs and weights as they are.

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {
namespace {

// splitmix64: the same graphs on every machine, whatever its standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t below(size_t bound) { return static_cast<size_t>(next() % bound); }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[below(items.size())];
  }
  at::Tensor tensor() {
    at::Tensor result = at::empty({4, 4});
    for (int64_t i = 0; i < 16; ++i) {
      result.mutable_data_ptr<float>()[i] = static_cast<float>(below(2001)) / 1000 - 1;
    }
    return result;
  }

 private:
  uint64_t state_;
};

// Adds a call on some of `values`, all of which are 4x4, and its 4x4 results to them.
using Move = std::function<void(EagerGraph&, std::vector<V>&, Random&)>;

Move unary(const std::string& op_type) {
  return [op_type](EagerGraph& graph, std::vector<V>& values, Random& random) {
    values.push_back(graph.call1(op_type, {random.pick(values)}));
  };
}

Move binary(const std::string& op_type) {
  return [op_type](EagerGraph& graph, std::vector<V>& values, Random& random) {
    const V left = random.pick(values);
    values.push_back(graph.call1(op_type, {left, random.pick(values)}));
  };
}

// Writes to a part of a value, through a view of it.
void write_to_part(EagerGraph& graph, std::vector<V>& values, Random& random) {
  const V part = graph.call1("aten.slice.Tensor",
                             {random.pick(values), Attribute(static_cast<int>(random.below(2))),
                              Attribute(static_cast<int>(random.below(2))), Attribute(3)});
  graph.call("aten.mul_.Scalar", {part, Attribute(-0.5)});
}

void concatenate_halves(EagerGraph& graph, std::vector<V>& values, Random& random) {
  const auto halves =
      graph.call("aten.split.Tensor", {random.pick(values), Attribute(2), Attribute(1)});
  values.push_back(graph.call1("aten.cat.default", {VList{halves[1], halves[0]}, Attribute(1)}));
}

void reshape_there_and_back(EagerGraph& graph, std::vector<V>& values, Random& random) {
  const V flat = graph.call1("aten.reshape.default", {random.pick(values), Attribute::list({16})});
  values.push_back(graph.call1("aten.view.default", {flat, Attribute::list({4, 4})}));
}

// All of a value, by a call that a replay is cut at.
void select_all(EagerGraph& graph, std::vector<V>& values, Random& random) {
  const V value = random.pick(values);
  const V all = graph.call1("aten.eq.Tensor", {value, value});
  const V selected = graph.call1("aten.masked_select.default", {value, all});
  values.push_back(graph.call1("aten.view.default", {selected, Attribute::list({4, 4})}));
}

void add_scaled(EagerGraph& graph, std::vector<V>& values, Random& random) {
  const V self = random.pick(values);
  graph.call("aten.add_.Tensor", {self, random.pick(values), Attribute(0.25)});
}

const std::vector<Move>& moves() {
  static const std::vector<Move> all = {unary("aten.tanh.default"),
                                        unary("aten.relu.default"),
                                        unary("aten.t.default"),
                                        unary("aten.relu_.default"),
                                        unary("aten.sin_.default"),
                                        unary("aten.contiguous.default"),
                                        unary("aten.detach.default"),
                                        unary("aten.clone.default"),
                                        binary("aten.add.Tensor"),
                                        binary("aten.mul.Tensor"),
                                        binary("aten.mm.default"),
                                        binary("aten.matmul.default"),
                                        binary("aten.copy_.default"),
                                        binary("aten.mul_.Tensor"),
                                        binary("aten.linear.default"),
                                        binary("aten.type_as.default"),
                                        write_to_part,
                                        concatenate_halves,
                                        reshape_there_and_back,
                                        select_all,
                                        add_scaled};
  return all;
}

EagerGraph random_graph(uint64_t seed) {
  Random random(seed);
  EagerGraph graph;
  std::vector<V> values = {graph.input("x", random.tensor()), graph.input("y", random.tensor()),
                           graph.weight("v", random.tensor()), graph.weight("w", random.tensor())};
  const size_t num_moves = 1 + random.below(12);
  for (size_t i = 0; i < num_moves; ++i) {
    try {
      random.pick(moves())(graph, values, random);
    } catch (const c10::Error&) {
      // Not a node: an operator that refuses to read and write one memory.
    }
  }
  const size_t num_outputs = 1 + random.below(4);
  for (size_t i = 0; i < num_outputs; ++i) graph.output(random.pick(values));
  return graph;
}

TEST(RandomGraphs, GiveTheBitsOfEagerCalls) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const EagerGraph graph = random_graph(seed);
    std::string nodes;
    for (const OpNode& node : graph.ir.nodes) nodes += node.op_type + " ";
    ASSERT_EQ(difference_from_eager(graph), "") << "seed " << seed << ": " << nodes;
  }
}

}  // namespace
}  // namespace torch_ir
