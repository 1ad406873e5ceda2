#include "torch_ir/visualize/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

std::string svg_of(const IR& ir, const SvgOptions& options = {}) {
  return draw_picture(resolve(ir, GraphChecks::kStructure), "svg", options);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// A chain of residual blocks that all read the first value.
IR large_graph(int num_nodes) {
  TestGraphBuilder graph("Large");
  graph.input("x", {1, 16});
  std::string previous = "x";
  for (int i = 0; i < num_nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    graph.weight("p_" + name, name, {16});
    graph.op(name, "aten.add.Tensor", {previous, i % 7 == 0 ? "x" : "p_" + name}, {1, 16});
    previous = name;
  }
  return graph.output(previous).build();
}

class SvgTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("dot -V 2>/dev/null") != 0) GTEST_SKIP() << "Graphviz's dot is not on the PATH";
  }
};

TEST_F(SvgTest, HasATitleAndNamesItsNodes) {
  const IR ir = transformer_block_graph();
  const std::string svg = svg_of(ir, {.title = "A <b> & c"});
  EXPECT_THAT(svg, AllOf(HasSubstr("<svg "), HasSubstr("<title>A &lt;b&gt; &amp; c</title>")));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  for (const OpNode& node : ir.nodes) {
    EXPECT_THAT(svg, HasSubstr("<a xlink:title=\"" + node.name + "\">"));
  }
}

TEST_F(SvgTest, ANodeStandsOut) {
  const std::string plain = svg_of(deep_resnet_graph());
  const std::string name = deep_resnet_graph().nodes[3].name;
  const std::string svg = svg_of(deep_resnet_graph(), {.highlighted_node = name});
  EXPECT_EQ(count(plain, "first difference"), 0u);
  EXPECT_EQ(count(svg, ">first difference</text>"), 1u);
  EXPECT_THAT(svg, HasSubstr("stroke=\"#cf222e\""));
}

// Blocks of different sizes, so that none repeats.
IR graph_of_blocks(int num_blocks) {
  IR ir = large_graph(num_blocks * (num_blocks + 1) / 2 * 10);
  size_t node = 0;
  for (int block = 0; block < num_blocks; ++block) {
    for (int i = 0; i < (block + 1) * 10; ++i) {
      ir.nodes[node].op_type = i % 3 == 0 ? "aten.mul.Tensor" : "aten.add.Tensor";
      ir.nodes[node++].module = "blocks." + std::to_string(block) + (i % 2 == 0 ? ".even" : ".odd");
    }
  }
  return ir;
}

TEST_F(SvgTest, ShowsTheModulesOfALargeGraphAndWhichHasTheFirstDifference) {
  const std::string svg = svg_of(graph_of_blocks(8), {.highlighted_node = "n300"});
  for (int block = 0; block < 8; ++block) {
    EXPECT_EQ(count(svg, ">blocks." + std::to_string(block) + "</text>"), 1u);
  }
  EXPECT_EQ(count(svg, ">add.Tensor</text>"), 0u);
  EXPECT_EQ(count(svg, ">first difference inside</text>"), 1u);
}

// Every node reads a dozen values before it: as one drawing with curves this takes minutes.
TEST_F(SvgTest, DenseGraphsAreDrawnInTime) {
  TestGraphBuilder graph("Dense");
  graph.input("x", {4});
  std::vector<std::string> values = {"x"};
  for (int i = 0; i < 120; ++i) {
    const std::vector<std::string> read(values.end() - std::min<size_t>(values.size(), 12),
                                        values.end());
    values.push_back("n" + std::to_string(i));
    graph.op(values.back(), "aten.cat.default", read, {4});
  }
  const std::string svg = svg_of(graph.output("n119").build());
  EXPECT_THAT(svg, HasSubstr("</svg>"));
}

TEST_F(SvgTest, CountsTheNodesThatItLeavesOut) {
  const std::string svg = svg_of(large_graph(250), {.max_nodes = 100});
  EXPECT_EQ(count(svg, ">add.Tensor</text>"), 100u);
  EXPECT_THAT(svg, HasSubstr(">... 150 more nodes ...</text>"));
}

TEST_F(SvgTest, TakesNoLongerThanItMay) {
  const SvgOptions options = {.graphviz = {.time_limit = std::chrono::milliseconds(1)}};
  EXPECT_THAT([&] { svg_of(large_graph(3000), options); },
              ThrowsMessage<Error>(StartsWith("Graphviz's 'dot' took more than ")));
}

// No Graphviz on the PATH.
TEST(SvgWithoutGraphviz, SaysSo) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", testing::TempDir().c_str(), 1);
  EXPECT_THAT([] { svg_of(deep_resnet_graph()); },
              ThrowsMessage<Error>("Graphviz's 'dot', which draws svg files, is not on the PATH: "
                                   "install graphviz, or write .mmd or .dot instead"));
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace torch_ir
