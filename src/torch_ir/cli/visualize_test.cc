#include <gmock/gmock.h>

#include <cstdlib>

#include "torch_ir/base/file.h"
#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/visualize/dot.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class VisualizeTest : public CliTest {
 protected:
  // Draws the graph to a file of this name; returns its content.
  std::string drawn(const std::string& name, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"visualize", graph_, "-o", path(name)});
    const Outcome outcome = torch_ir(options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return read_file(path(name));
  }

  const IR ir_ = transformer_block_graph();
  const std::string graph_ = graph_file("model.json", ir_);
};

TEST_F(VisualizeTest, WritesWhatTheNameOfTheFileSays) {
  EXPECT_EQ(drawn("graph.mmd"), ir_to_mermaid(ir_));
  EXPECT_EQ(drawn("graph.dot"), ir_to_dot(ir_));
}

TEST_F(VisualizeTest, DrawsPicturesWithGraphviz) {
  if (std::system("dot -V 2>/dev/null") != 0) GTEST_SKIP() << "Graphviz's dot is not on the PATH";
  const std::string svg = drawn("graph.svg");
  EXPECT_THAT(svg, StartsWith("<?xml "));
  EXPECT_THAT(svg, HasSubstr(">Input: x</text>"));
  EXPECT_THAT(drawn("cut.svg", {"--max-nodes", "5"}), HasSubstr(">... 20 more nodes ...</text>"));
  EXPECT_THAT(drawn("graph.png"), StartsWith("\x89PNG\r\n"));
}

TEST_F(VisualizeTest, DrawsSomeNodesOrModules) {
  EXPECT_EQ(printed({"visualize", graph_, "--max-nodes", "5"}),
            ir_to_mermaid(ir_, {.max_nodes = 5}));
  IR ir = ir_;
  for (OpNode& node : ir.nodes) node.module = "encoder.mlp";
  ir.nodes.back().module = "head";
  const std::string graph = graph_file("modules.json", ir);
  EXPECT_EQ(printed({"visualize", graph, "--module", "encoder"}),
            ir_to_mermaid(ir, {.module = "encoder"}));
  EXPECT_EQ(printed({"visualize", graph, "--depth", "1"}), ir_to_mermaid(ir, {.depth = 1}));
  expect_refused(torch_ir({"visualize", graph, "--module", "encoder.mpl"}),
                 "unknown module 'encoder.mpl'; did you mean 'encoder.mlp'?");
}

TEST_F(VisualizeTest, RefusesOtherFormatsAndToDrawNoNodes) {
  expect_refused(torch_ir({"visualize", graph_, "-o", path("graph.jpg")}),
                 "unknown format of '" + path("graph.jpg") +
                     "'; expected a name that ends in .mmd, .svg, .png or .dot");
  EXPECT_THAT(files(), ElementsAre("model.json"));
  for (const std::string count : {"0", "-1", "many", "1.5", "99999999999999999999"}) {
    expect_refused(torch_ir({"visualize", graph_, "--max-nodes", count}),
                   "--max-nodes: invalid count '" + count +
                       "'; expected a whole number of 1 or more "
                       "(see 'torch-ir visualize --help')");
  }
}

TEST_F(VisualizeTest, DoesNotOverwriteTheGraph) {
  const std::string graph = path("./same.mmd");
  const std::string content = read_file(graph_);
  write_file(graph, content);
  for (const char* command : {"visualize", "info"}) {
    expect_refused(
        torch_ir({command, graph, "-o", graph}),
        graph + ": writing there would overwrite the input '" + graph + "'; write elsewhere");
    EXPECT_EQ(read_file(graph), content);
  }
}

TEST_F(VisualizeTest, KeepsAnOldFileWhereItFails) {
  const std::string old = file("graph.svg", "old");
  EXPECT_EQ(torch_ir({"visualize", file("no_graph.json", "{}"), "-o", old}).status, 2);
  EXPECT_EQ(read_file(old), "old");
}

}  // namespace
}  // namespace torch_ir
