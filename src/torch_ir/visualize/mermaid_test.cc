#include "torch_ir/visualize/mermaid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "torch_ir/base/file.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string printed_in_the_specification(const std::string& name) {
  return read_file(std::string(std::getenv("TEST_SRCDIR")) + "/" + std::getenv("TEST_WORKSPACE") +
                   "/src/torch_ir/visualize/testdata/" + name + ".mmd");
}

TEST(IrToMermaid, DrawsTheGraphsOfTheSpecificationAsPrinted) {
  EXPECT_EQ(ir_to_mermaid(transformer_block_graph()),
            printed_in_the_specification("transformer_block"));
  EXPECT_EQ(ir_to_mermaid(masked_linear_graph()), printed_in_the_specification("masked_linear"));
  EXPECT_EQ(ir_to_mermaid(gather_with_index_graph()),
            printed_in_the_specification("gather_with_index"));
  EXPECT_EQ(ir_to_mermaid(buffer_vs_constant_graph()),
            printed_in_the_specification("buffer_vs_constant"));
  EXPECT_EQ(ir_to_mermaid(IR()), "flowchart TD\n");
}

// A layered graph: each node uses the `fan_in` values before it.
IR layered_graph(int nodes, int fan_in, const std::string& prefix = "n") {
  TestGraphBuilder graph("Layered");
  std::vector<std::string> values = {"x"};
  graph.input("x", {4});
  for (int i = 0; i < nodes; ++i) {
    const size_t first = values.size() > static_cast<size_t>(fan_in) ? values.size() - fan_in : 0;
    values.push_back(prefix + std::to_string(i));
    graph.op(values.back(), "aten.cat.default", {values.begin() + first, values.end() - 1}, {4});
  }
  return graph.output(values.back()).build();
}

int count_lines(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++count;
  return count;
}

// Of texts in ASCII, whose edges have one kind of arrow each.
bool is_within_limits(const std::string& text) {
  return count_lines(text, " -->") + count_lines(text, " -.->") <= kGitHubMaxMermaidEdges &&
         std::ssize(text) <= kGitHubMaxMermaidCharacters;
}

TEST(IrToMermaid, ShowsAsManyNodesAsItIsTold) {
  const std::string text = ir_to_mermaid(layered_graph(2000, 1), {.max_nodes = 2000});
  EXPECT_EQ(count_lines(text, "[\"cat<br/>"), 2000);
  EXPECT_THAT(text, Not(HasSubstr("more nodes")));
}

TEST(IrToMermaid, CutsToSoManyNodes) {
  const std::string text = ir_to_mermaid(layered_graph(40, 2), kReportMermaidOptions);
  EXPECT_EQ(count_lines(text, "[\"cat<br/>"), 30);
  EXPECT_THAT(text, HasSubstr("    more_nodes[\"... 10 more nodes ...\"]\n"));
  EXPECT_TRUE(is_within_limits(text));
}

TEST(IrToMermaid, CutsToWhatGitHubDraws) {
  const std::string many_edges = ir_to_mermaid(layered_graph(60, 25), kReportMermaidOptions);
  EXPECT_TRUE(is_within_limits(many_edges));
  // Uses nearly all the edges that are allowed.
  EXPECT_GT(count_lines(many_edges, " -->"), 450);

  MermaidOptions any_number_of_nodes = kReportMermaidOptions;
  any_number_of_nodes.max_nodes = 2000;
  const IR long_names = layered_graph(2000, 1, std::string(90, 'n'));
  const std::string many_characters = ir_to_mermaid(long_names, any_number_of_nodes);
  EXPECT_TRUE(is_within_limits(many_characters));
  EXPECT_GT(many_characters.size(), 49'000u);
}

// Nothing repeats, and nodes have paths that Mermaid could take for something else.
TEST(IrToMermaid, DrawsModulesOfALargeGraph) {
  IR ir = layered_graph(300, 12);
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    ir.nodes[i].op_type += std::to_string(i);
    ir.nodes[i].module = "end.<b>[" + std::to_string(i / 50) + "].\"" + std::to_string(i / 3);
  }
  MermaidOptions options = kReportMermaidOptions;
  options.max_nodes = kAllNodes;
  const MermaidFlowchart chart = draw_mermaid(resolve(ir), options);
  EXPECT_TRUE(chart.is_folded);
  EXPECT_EQ(chart.num_nodes, 300);
  EXPECT_TRUE(is_within_limits(chart.text));
  EXPECT_THAT(chart.text, HasSubstr("[[\"#60;b#62;#91;5#93;<br/>50 nodes\"]]\n"));
  EXPECT_THAT(ir_to_mermaid(ir, {.module = "end.<b>[1]"}), HasSubstr("From: n49"));
}

TEST(IrToMermaid, CutsInputsAndOutputsThatDoNotFit) {
  TestGraphBuilder graph("Wide");
  for (int i = 0; i < 1000; ++i) graph.input("x" + std::to_string(i), {4});
  for (int i = 0; i < 1000; ++i) {
    const std::string node = "n" + std::to_string(i);
    graph.op(node, "aten.relu.default", {"x" + std::to_string(i)}, {4}).output(node);
  }
  const std::string text = ir_to_mermaid(graph.build(), kReportMermaidOptions);
  EXPECT_TRUE(is_within_limits(text));
  EXPECT_EQ(count_lines(text, "[\"relu<br/>"), 30);
  EXPECT_THAT(text, HasSubstr(" more inputs ..."));
  EXPECT_THAT(text, HasSubstr(" more outputs ..."));
}

TEST(IrToMermaid, DrawsOnlyNotesWhereNothingFits) {
  EXPECT_EQ(ir_to_mermaid(layered_graph(5, 1), {.max_edges = 0}),
            "flowchart TD\n"
            "    more_inputs[\"... 1 more input ...\"]\n"
            "    more_nodes[\"... 5 more nodes ...\"]\n"
            "    more_outputs[\"... 1 more output ...\"]\n");
}

TEST(DrawMermaid, SaysHowManyNodesItShows) {
  const IR ir = transformer_block_graph();
  const Program program = resolve(ir);
  EXPECT_EQ(draw_mermaid(program).num_nodes, 25);
  EXPECT_EQ(draw_mermaid(program, {.max_nodes = 5}).num_nodes, 5);
  const MermaidFlowchart cut = draw_mermaid(program, {.max_edges = 20});
  EXPECT_GT(cut.num_nodes, 0);
  EXPECT_LT(cut.num_nodes, 20);
  EXPECT_EQ(cut.text, ir_to_mermaid(ir, {.max_nodes = cut.num_nodes}));
}

// Of a graph with the given number of nodes of each operator.
std::string pie(const std::vector<std::pair<std::string, int>>& operators) {
  TestGraphBuilder graph("M");
  graph.input("x", {4});
  int nodes = 0;
  for (const auto& [op_type, count] : operators) {
    for (int i = 0; i < count; ++i) {
      graph.op("n" + std::to_string(nodes++), op_type, {"x"}, {4}, {{"index", 0}});
    }
  }
  return generate_op_distribution_pie(graph.build());
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

TEST(OpDistributionPie, HasALabelForEachOperatorOrOthers) {
  EXPECT_EQ(pie({{"aten.b.default", 2}, {"aten.a.default", 197}, {"aten.c.default", 1}}),
            "pie showData\n    \"a\" : 197\n    \"b\" : 2\n    \"Others\" : 1\n");
  EXPECT_EQ(pie({{"aten.a.default", 3}, {"a", 2}, {"a\n", 2}, {"a\t", 1}, {"Others", 1}}),
            "pie showData\n"
            "    \"a\" : 3\n"
            "    \"a (2)\" : 2\n"
            "    \"a (3)\" : 2\n"
            "    \"a (4)\" : 1\n"
            "    \"Others (2)\" : 1\n");
  EXPECT_EQ(pie({{"my\\op.\"x\"", 1}, {"<built-in function getitem>", 1}}),
            "pie showData\n"
            "    \"my#92;op.#quot;x#quot;\" : 1\n"
            "    \"#60;built-in function getitem#62;\" : 1\n");
  EXPECT_EQ(pie({}), "pie showData title No operators\n");
}

}  // namespace
}  // namespace torch_ir
