#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/visualize/mermaid.h"
#include "torch_ir/visualize/testing/mermaid_rules.h"

namespace torch_ir {
namespace {

using testing::IsEmpty;

// A chain with so many nodes of each operator.
IR graph_of(const std::vector<std::pair<std::string, int>>& operators) {
  TestGraphBuilder graph("M");
  graph.input("x", {4});
  int nodes = 0;
  for (const auto& [op_type, count] : operators) {
    for (int i = 0; i < count; ++i) graph.op("n" + std::to_string(nodes++), op_type, {"x"}, {4});
  }
  return graph.build();
}

// The pie of such a graph, after a check that GitHub draws it.
std::string pie(const std::vector<std::pair<std::string, int>>& operators) {
  const std::string text = generate_op_distribution_pie(graph_of(operators));
  EXPECT_THAT(check_mermaid(text), IsEmpty()) << text;
  return text;
}

TEST(OpDistributionPie, CountsOperatorsMostFrequentFirst) {
  EXPECT_EQ(generate_op_distribution_pie(deep_resnet_graph()),
            "pie showData\n"
            "    \"conv2d\" : 7\n"
            "    \"batch_norm\" : 7\n"
            "    \"relu\" : 7\n"
            "    \"add.Tensor\" : 3\n"
            "    \"adaptive_avg_pool2d\" : 1\n"
            "    \"flatten.using_ints\" : 1\n"
            "    \"linear\" : 1\n");
}

TEST(OpDistributionPie, ShowsTenOperatorsAndTheRestAsOthers) {
  std::vector<std::pair<std::string, int>> operators;
  std::string expected = "pie showData\n";
  for (int i = 0; i < 12; ++i) {
    operators.emplace_back("aten.op" + std::to_string(i) + ".default", 2);
    if (i < 10) expected += "    \"op" + std::to_string(i) + "\" : 2\n";
  }
  EXPECT_EQ(pie(operators), expected + "    \"Others\" : 4\n");
  operators.resize(10);
  EXPECT_EQ(pie(operators), expected);
}

TEST(OpDistributionPie, CountsWhatWouldNotBeDrawnAsOthers) {
  EXPECT_EQ(pie({{"aten.a.default", 197}, {"aten.b.default", 2}, {"aten.c.default", 1}}),
            "pie showData\n    \"a\" : 197\n    \"b\" : 2\n    \"Others\" : 1\n");
}

TEST(OpDistributionPie, HasNoLabelTwice) {
  EXPECT_EQ(pie({{"aten.a.default", 3}, {"a", 2}, {"a\n", 2}, {"a\t", 1}, {"Others", 1}}),
            "pie showData\n"
            "    \"a\" : 3\n"
            "    \"a (2)\" : 2\n"
            "    \"a (3)\" : 2\n"
            "    \"a (4)\" : 1\n"
            "    \"Others (2)\" : 1\n");
}

TEST(OpDistributionPie, WritesAnyNameAsText) {
  EXPECT_EQ(pie({{"my\\op.\"x\"", 1}, {"<built-in function getitem>", 1}}),
            "pie showData\n"
            "    \"my#92;op.#quot;x#quot;\" : 1\n"
            "    \"#60;built-in function getitem#62;\" : 1\n");
}

TEST(OpDistributionPie, SaysThatThereAreNoOperators) {
  EXPECT_EQ(pie({}), "pie showData title No operators\n");
}

}  // namespace
}  // namespace torch_ir
