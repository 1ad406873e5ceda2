#include "torch_ir/visualize/dot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/visualize/graphviz.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;

IR graph_with_hostile_names() {
  TestGraphBuilder graph("say \"hi\" \\ & <b>");
  graph.input("node", {4}).input("a\"b", {4}).input("tail\\", {4});
  graph.weight("p_\n&amp;", "w", {4});
  graph.op("graph", "strict.\\N\\G", {"node", "a\"b", "tail\\", "p_\n&amp;"}, {4});
  graph.op("가\xFF", "<i>x</i>", {"graph", "graph"}, {4});
  return graph.output("graph").output("가\xFF").build();
}

TEST(IrToDot, DrawsTheSameGraphAsMermaid) {
  EXPECT_EQ(ir_to_dot(masked_linear_graph()),
            R"(digraph "MaskedLinear" {
    rankdir=TB;
    node [shape=box, style=filled, fillcolor=white, fontname=Helvetica];
    edge [fontname=Helvetica, fontsize=10];
    input_x [label="Input: x\n1x4", shape=parallelogram, fillcolor="#e1f0ff"];
    op_linear [label="linear\n1x4"];
    input_x -> op_linear [label="1x4"];
    w_p_linear_weight [label="p_linear_weight\n4x4", shape=parallelogram, fillcolor="#f0f0f0"];
    w_p_linear_weight -> op_linear [label="4x4", style=dashed];
    w_p_linear_bias [label="p_linear_bias\n4", shape=parallelogram, fillcolor="#f0f0f0"];
    w_p_linear_bias -> op_linear [label="4", style=dashed];
    op_mul [label="mul.Tensor\n1x4"];
    op_linear -> op_mul [label="1x4"];
    w_c_mask [label="c_mask\n4", shape=parallelogram, fillcolor="#f0f0f0"];
    w_c_mask -> op_mul [label="4", style=dashed];
    output_0 [label="Output\n1x4", shape=invtrapezium, fillcolor="#e3f5e1"];
    op_mul -> output_0 [label=""];
}
)");
}

TEST(IrToDot, EscapesNames) {
  const std::string text = ir_to_dot(graph_with_hostile_names());
  EXPECT_THAT(text, HasSubstr("digraph \"say \\\"hi\\\" \\\\ &amp; <b>\" {"));
  EXPECT_THAT(text, HasSubstr("[label=\"Input: a\\\"b\\n4\""));
  EXPECT_THAT(text, HasSubstr("[label=\"Input: tail\\\\\\n4\""));
  EXPECT_THAT(text, HasSubstr("[label=\"p_ &amp;amp;\\n4\""));
  EXPECT_THAT(text, HasSubstr("[label=\"strict.\\\\N\\\\G\\n4\""));
}

TEST(IrToDot, CutsToSoManyNodes) {
  const std::string text = ir_to_dot(transformer_block_graph(), {.max_nodes = 3});
  EXPECT_THAT(text, HasSubstr("more_nodes [label=\"... 22 more nodes ...\", shape=plaintext"));
}

TEST(IrToDot, GivesGraphvizNamesAsTheyAre) {
  if (std::system("dot -V 2>/dev/null") != 0) GTEST_SKIP() << "Graphviz's dot is not on the PATH";
  // Fontconfig warns without a folder for its cache.
  setenv("XDG_CACHE_HOME", testing::TempDir().c_str(), 1);
  const auto on_warning = [](const std::string& warning) { ADD_FAILURE() << warning; };
  const std::string dot = ir_to_dot(graph_with_hostile_names());
  const std::string svg = run_graphviz(dot, "svg", {.on_warning = on_warning});
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  for (const char* text : {">Input: a&quot;b<", ">Input: tail\\<", ">strict.\\N\\G<",
                           ">&lt;i&gt;x&lt;/i&gt;<", ">Output: 가\uFFFD<", ">p_ &amp;amp;<"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
}

}  // namespace
}  // namespace torch_ir
