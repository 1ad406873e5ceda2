#include "torch_ir/analysis/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Summarize, CountsEdgesAndScalarAndEmptyWeights) {
  // The other figures of the summary are those that InfoTest prints.
  EXPECT_EQ(summarize(deep_resnet_graph()).num_edges, 74);
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
