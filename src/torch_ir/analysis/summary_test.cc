#include "torch_ir/analysis/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Summarize, GivesTheFiguresOfDeepResNet) {
  const IRSummary summary = summarize(deep_resnet_graph());
  EXPECT_EQ(summary.model_name, "DeepResNet");
  EXPECT_EQ(summary.num_nodes, 27);
  EXPECT_EQ(summary.num_edges, 74);
  EXPECT_EQ(summary.num_inputs, 1);
  EXPECT_EQ(summary.num_outputs, 1);
  EXPECT_EQ(summary.num_weights, 51);
  EXPECT_EQ(summary.total_parameters, 57'617);
  ASSERT_EQ(summary.inputs.size(), 1u);
  EXPECT_EQ(summary.inputs[0].name, "x");
  EXPECT_THAT(summary.inputs[0].shape, ElementsAre(1, 3, 32, 32));
  ASSERT_EQ(summary.outputs.size(), 1u);
  EXPECT_EQ(summary.outputs[0].name, "linear");
  EXPECT_THAT(summary.outputs[0].shape, ElementsAre(1, 10));
}

TEST(Summarize, OrdersOperatorsByCountThenByAppearance) {
  EXPECT_THAT(summarize(deep_resnet_graph()).op_distribution,
              ElementsAre(Pair("aten.conv2d.default", 7), Pair("aten.batch_norm.default", 7),
                          Pair("aten.relu.default", 7), Pair("aten.add.Tensor", 3),
                          Pair("aten.adaptive_avg_pool2d.default", 1),
                          Pair("aten.flatten.using_ints", 1), Pair("aten.linear.default", 1)));
}

TEST(Summarize, CountsScalarAndEmptyWeights) {
  TestGraphBuilder graph("M");
  graph.weight("b_n", "n", {}).weight("b_e", "e", {0, 4}).weight("p_w", "w", {2, 3});
  const IRSummary summary = summarize(graph.build());
  EXPECT_EQ(summary.num_weights, 3);
  EXPECT_EQ(summary.total_parameters, 7);
  EXPECT_EQ(summary.num_nodes, 0);
}

TEST(Summarize, CountsTheOperatorsOfSubgraphsToo) {
  Node neg;
  neg.target = "aten.neg.default";
  Graph branch;
  branch.nodes = {neg, neg};
  Node cond;
  cond.target = "higher_order.cond";
  cond.graphs = {branch, branch};
  Program program;
  program.nodes = {cond};
  const IRSummary summary = summarize(program);
  EXPECT_EQ(summary.num_nodes, 1);
  EXPECT_THAT(summary.op_distribution,
              ElementsAre(Pair("aten.neg.default", 4), Pair("higher_order.cond", 1)));
}

}  // namespace
}  // namespace torch_ir
