// Tests plans of graphs with nodes that cannot be replayed: all other nodes are.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "n2 (aten.nonzero.default): its result depends on data"
std::vector<std::string> not_replayed(const ExecutionPlan& plan) {
  std::vector<std::string> lines;
  for (const NodeNotReplayed& node : plan.not_replayed()) {
    lines.push_back(node.name + " (" + node.op_type + "): " + node.reason);
  }
  return lines;
}

std::vector<std::string> not_replayed(const EagerGraph& graph) {
  const ExecutionPlan plan = graph.plan();
  (void)plan.run(graph.inputs);
  return not_replayed(plan);
}

TEST(Segments, AreReplayedAroundWhatDependsOnData) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({3}));
  const V mask = graph.input("mask", at::tensor({1, 0, 1}).to(at::kBool));
  const V chosen = graph.call1("aten.index.Tensor", {x, VList{mask}});
  graph.output(graph.call1("aten.exp.default", {chosen}));
  EXPECT_EQ(difference_from_eager(graph), "");
  EXPECT_THAT(not_replayed(graph),
              ElementsAre("n0 (aten.index.Tensor): its result depends on data"));
}

// Random numbers are drawn as eager draws them: none for a trace, none twice.
TEST(Segments, AreReplayedAroundRandomNumbers) {
  at::manual_seed(3);
  EagerGraph graph;
  const V x = graph.input("x", at::ones({64}));
  const V first =
      graph.call1("aten.dropout.default", {graph.call1("aten.add.Tensor", {x, x}), 0.5, true});
  const V twice = graph.call1("aten.mul.Tensor", {first, first});
  const V second = graph.call1("aten.dropout.default", {twice, 0.25, true});
  graph.output(graph.call1("aten.neg.default", {second}));
  const ExecutionPlan plan = graph.plan();
  for (int run = 0; run < 3; ++run) {
    at::manual_seed(3);
    EXPECT_TRUE(same_bits(plan.run(graph.inputs)[0], graph.expected()[0])) << run;
  }
  EXPECT_THAT(not_replayed(graph),
              ElementsAre("n1 (aten.dropout.default): it draws random numbers",
                          "n3 (aten.dropout.default): it draws random numbers"));
}

TEST(Segments, AreOneWhereATagOnlySaysThatACallMayDraw) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 2, 8, 4}));
  const V none = graph.call1("aten.dropout.default", {x, 0.0, true});
  const V eval = graph.call1("aten.dropout.default", {none, 0.5, false});
  graph.output(graph.call1("aten.scaled_dot_product_attention.default", {eval, eval, x}));
  EXPECT_EQ(difference_from_eager(graph), "");
  EXPECT_THAT(not_replayed(graph), ElementsAre());
}

TEST(Segments, LeaveTheGeneratorWhereEagerLeavesIt) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({8}));
  graph.output(graph.call1("aten.rand_like.default", {x}));
  const ExecutionPlan plan = graph.plan();
  at::manual_seed(5);
  plan.memory(graph.inputs);
  const at::Tensor drawn = plan.run(graph.inputs)[0];
  const at::Tensor next = at::randn({4});
  at::manual_seed(5);
  EXPECT_TRUE(same_bits(drawn, at::rand({8})));
  EXPECT_TRUE(same_bits(next, at::randn({4})));
}

// The bits of a product depend on how its operands lie.
TEST(Segments, LeaveConstantsAsTheyLie) {
  for (const int64_t first : {0, 1}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({64}));
    const V w = graph.weight("w", at::randn({64, 64}));
    const V columns = graph.call("aten.unbind.int", {w, -1})[3];
    const V flat = graph.call1("aten.view.default", {w, Attribute::list({64 * 64})});
    const V begin = graph.call1("aten.slice.Tensor", {flat, 0, first, first + 63});
    const V places = graph.call1("aten.nonzero.default", {x});
    const V end = graph.call1("aten.slice.Tensor", {x, 0, 1});
    graph.output(places);
    graph.output(graph.call1("aten.matmul.default", {columns, x}));
    graph.output(graph.call1("aten.matmul.default", {begin, end}));
    EXPECT_EQ(difference_from_eager(graph), "");
  }
}

// A segment reads the writes of an earlier one, also through a view that was made before.
TEST(Segments, SeeWhatWasWrittenBefore) {
  EagerGraph graph;
  const V x = graph.input("x", at::tensor({1.0f, 0.0f, 2.0f, 3.0f}).view({2, 2}));
  const V cache = graph.weight("cache", at::zeros({2, 2}));
  const V row = graph.call1("aten.select.int", {cache, 0, 1});
  const V written = graph.call1("aten.add_.Tensor", {cache, x});
  const V places = graph.call1("aten.nonzero.default", {written});
  const V again = graph.call1("aten.mul_.Tensor", {written, x});
  const V more = graph.call1("aten.add.Tensor", {row, row});
  const V others = graph.call1("aten.nonzero.default", {more});
  graph.output(places);
  graph.output(others);
  graph.output(again);
  graph.output(graph.call1("aten.neg_.default", {row}));
  graph.output(cache);
  EXPECT_EQ(difference_from_eager(graph), "");
  EXPECT_THAT(not_replayed(graph).at(0), HasSubstr("its result depends on data"));
  EXPECT_THAT(not_replayed(graph).at(1), HasSubstr("memory that two values share"));
}

// A write after a cut reaches memory of values made before it.
TEST(Segments, SeeWhatIsWrittenThroughAViewMadeBefore) {
  for (const bool is_constant : {false, true}) {
    for (const bool is_split : {false, true}) {
      EagerGraph graph;
      const at::Tensor square = at::randn({4, 4});
      const V x = is_constant ? graph.weight("x", square) : graph.input("x", square);
      const V whole = graph.call1("aten.tanh.default", {x});
      const V part = is_split ? graph.call("aten.split.Tensor", {whole, 2, -1})[0]
                              : graph.call1("aten.slice.Tensor", {whole, -1, 0, 2});
      const V mask = graph.call1("aten.ones_like.default", {x, at::kBool});
      const V cut = graph.call1("aten.masked_select.default", {x, mask});
      graph.output(graph.call1("aten.view_as.default", {cut, x}));
      graph.output(graph.call1("aten.relu_.default", {part}));
      graph.output(whole);
      EXPECT_EQ(difference_from_eager(graph), "") << is_constant << is_split;
    }
  }
}

TEST(Segments, KeepAnInputThatIsPassedTwiceOneTensor) {
  EagerGraph graph;
  const at::Tensor tensor = at::randn({3});
  const V x = graph.input("x", at::randn({3}));
  const V y = graph.input("y", at::randn({3}));
  const V written = graph.call1("aten.add_.Tensor", {x, y});
  graph.output(graph.call1("aten.add.Tensor", {written, y}));
  const ExecutionPlan plan = graph.plan();
  for (int run = 0; run < 3; ++run) {
    const at::Tensor shared = tensor.clone();
    EXPECT_TRUE(same_bits(plan.run({shared, shared})[0], tensor + tensor + (tensor + tensor)));
    EXPECT_TRUE(same_bits(shared, tensor));
    EXPECT_TRUE(same_bits(plan.run({tensor, tensor * 1})[0], tensor + tensor + tensor));
  }
}

// Also if only the statistics are read.
TEST(Segments, UpdateRunningStatisticsOncePerRun) {
  for (const bool is_read : {true, false}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({8, 2}));
    const V mean = graph.weight("mean", at::zeros({2}));
    const V var = graph.weight("var", at::ones({2}));
    const V norm = graph.call1("aten.batch_norm.default", {x, std::monostate(), std::monostate(),
                                                           mean, var, true, 0.5, 1e-5, false});
    if (is_read) graph.output(norm);
    graph.output(graph.call1("aten.add.Tensor", {mean, var}));
    EXPECT_EQ(difference_from_eager(graph), "");
    EXPECT_THAT(not_replayed(graph), ElementsAre());
  }
}

TEST(Segments, NameTheNodeThatFailsBehindAnother) {
  EagerGraph graph;
  const V x = graph.input("x", at::tensor({1.0f, 2.0f}));
  const V index = graph.input("index", at::tensor({0, 1}, at::kLong));
  const V state = graph.weight("state", at::zeros({2}));
  const V places = graph.call1("aten.nonzero.default", {x});
  const V written = graph.call1("aten.add_.Tensor", {state, x});
  const V chosen = graph.call1("aten.index_select.default", {written, 0, index});
  graph.output(places);
  graph.output(graph.call1("aten.add.Tensor", {chosen, state}));
  const ExecutionPlan plan = graph.plan();
  (void)plan.run(graph.inputs);
  EXPECT_THAT(run_error(plan, {graph.inputs[0], at::tensor({0, 7}, at::kLong)}),
              HasSubstr("Node 'n2' (aten.index_select.default)"));
  EXPECT_TRUE(std::ranges::equal(plan.run(graph.inputs), graph.expected(), same_bits));
  EXPECT_EQ(not_replayed(plan).size(), 1u);
}

TEST(Segments, SurroundRegisteredOpHandlers) {
  const auto twice = [](const OpNode& node, const std::vector<at::Tensor>& inputs) {
    EXPECT_EQ(node.name, "n1");
    return std::vector<at::Tensor>{inputs[0] * 2};
  };
  register_executor("aten.tanh.default", twice);
  EagerGraph graph;
  const V x = graph.input("x", at::randn({3}));
  const V y = graph.call1("aten.tanh.default", {graph.call1("aten.exp.default", {x})});
  graph.output(graph.call1("aten.neg.default", {y}));
  const ExecutionPlan plan = graph.plan();
  register_executor("aten.tanh.default", {});
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(same_bits(plan.run(graph.inputs)[0], (graph.inputs[0].exp() * 2).neg()));
  }
  EXPECT_THAT(not_replayed(plan),
              ElementsAre("n1 (aten.tanh.default): it has a registered op handler"));
}

}  // namespace
}  // namespace torch_ir
