#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;

using ValidateTest = CliTest;

TEST_F(ValidateTest, SaysThatAGraphIsWellFormed) {
  const std::string graph = graph_file("model.json", deep_resnet_graph());
  EXPECT_EQ(printed({"validate", graph}), graph + ": valid, 27 nodes, 51 weights\n");
  EXPECT_EQ(printed({"validate", "--quiet", graph}), "");
}

TEST_F(ValidateTest, ListsTheProblemsOfAGraph) {
  IR ir = masked_linear_graph();
  ir.nodes[1].inputs[0].name = "nobody";
  ir.graph_outputs[0].shape = {1, 5};
  const std::string graph = graph_file("model.json", ir);
  const std::string start = "torch-ir: " + graph + " is not well formed: ";
  expect_failed(torch_ir({"validate", graph}),
                testing::MatchesRegex(start + "2 problems with its graph:\n"
                                              "  [^\n]*'nobody'[^\n]*\n  [^\n]*\\[1, 5\\][^\n]*\n"),
                /*num_lines=*/3);
  ir.graph_outputs[0].shape = masked_linear_graph().graph_outputs[0].shape;
  expect_failed(torch_ir({"validate", graph_file("model.json", ir)}),
                testing::MatchesRegex(start + "[^\n]*'nobody'[^\n]*\n"));
}

TEST_F(ValidateTest, SaysWhetherWeightsFit) {
  const MaskedLinear model = masked_linear();
  EXPECT_THAT(printed({"validate", model.graph, "--weights", model.weights}),
              HasSubstr(model.weights + ": fits " + model.graph + "\n"));

  const std::string wrong =
      tensor_file("wrong.safetensors", {{"linear.weight", at::zeros({4, 5})}});
  expect_refused(torch_ir({"validate", model.graph, "--weights", wrong}),
                 model.graph + " with " + wrong +
                     ": 2 problems with its weights:\n"
                     "  Weight 'linear.weight' has shape [4, 5], expected [4, 4].\n"
                     "  Missing weight 'linear.bias' (float32 [4]), read by node 'linear'.");
}

}  // namespace
}  // namespace torch_ir
