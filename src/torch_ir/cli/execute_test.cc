#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

#include "torch_ir/base/file.h"
#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using ExecuteTest = CliTest;

TEST_F(ExecuteTest, WritesTheOutputsUnderTheirNames) {
  const MaskedLinear model = masked_linear();
  EXPECT_EQ(printed({"execute", model.graph, "--weights", model.weights, "--inputs", model.inputs,
                     "--outputs", path("outputs.safetensors")}),
            "mul: float32 [1, 4]\n");
  const StateDict outputs = load_weights_safetensors(path("outputs.safetensors"));
  EXPECT_THAT(outputs.keys(), testing::ElementsAre("mul"));
  EXPECT_TRUE(at::equal(outputs["mul"], model.output));
}

TEST_F(ExecuteTest, NeedsNoWeightsForAGraphWithoutAny) {
  TestGraphBuilder graph("Add");
  graph.input("a", {2}).input("b", {2}).op("add", "aten.add.Tensor", {"a", "b"}, {2});
  graph.output("add").output("a").output("add");
  const std::string inputs =
      tensor_file("inputs.safetensors", {{"b", at::ones({2})}, {"a", at::tensor({3.0f, 4.0f})}});
  EXPECT_EQ(printed({"execute", graph_file("model.json", graph.build()), "--inputs", inputs,
                     "--outputs", path("outputs.safetensors"), "--quiet"}),
            "");
  const StateDict outputs = load_weights_safetensors(path("outputs.safetensors"));
  // A value that is returned twice is stored once.
  EXPECT_THAT(outputs.keys(), testing::UnorderedElementsAre("add", "a"));
  EXPECT_TRUE(at::equal(outputs["add"], at::tensor({4.0f, 5.0f})));
  EXPECT_TRUE(at::equal(outputs["a"], at::tensor({3.0f, 4.0f})));
}

TEST_F(ExecuteTest, TakesConstantsInPlaceOfThoseOfTheGraph) {
  const MaskedLinear model = masked_linear();
  const std::string constants = tensor_file("constants.safetensors", {{"mask", at::zeros({4})}});
  const Outcome execute =
      torch_ir({"execute", model.graph, "--weights", model.weights, "--constants", constants,
                "--inputs", model.inputs, "--outputs", path("outputs.safetensors")});
  EXPECT_EQ(execute.status, 0) << execute.err;
  EXPECT_TRUE(
      at::equal(load_weights_safetensors(path("outputs.safetensors"))["mul"], at::zeros({1, 4})));
}

// Invalid input gives status 2, one line or one line and a list, and no output file.
class BadExecution : public CliTest {
 protected:
  void expect_failure(const std::vector<std::string>& arguments, const std::string& message,
                      int num_lines = 1) const {
    std::vector<std::string> all = {"execute", model_.graph, "--outputs",
                                    path("outputs.safetensors")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    expect_failed(torch_ir(all), testing::AllOf(StartsWith("torch-ir: "), HasSubstr(message)),
                  num_lines);
    EXPECT_THAT(files(), Not(testing::Contains("outputs.safetensors")));
  }

  const MaskedLinear model_ = masked_linear();
};

TEST_F(BadExecution, WithoutWeights) {
  expect_failure({"--inputs", model_.inputs},
                 model_.graph +
                     " without --weights: 2 problems with its weights and inputs:\n"
                     "  Missing weight 'linear.weight' (float32 [4, 4]), read by node 'linear'.\n"
                     "  Missing weight 'linear.bias' (float32 [4]), read by node 'linear'.\n",
                 /*num_lines=*/3);
}

// Reports all problems at once, so that fixing them does not take one run each.
TEST_F(BadExecution, WithMuchThatIsWrong) {
  const std::string weights = tensor_file(
      "wrong.safetensors",
      {{"linear.weight", at::zeros({4, 5}, at::kDouble)}, {"linear.bais", at::zeros({4})}});
  const std::string inputs = tensor_file("y.safetensors", {{"y", at::zeros({1, 4})}});
  expect_failure({"--inputs", inputs, "--weights", weights},
                 "torch-ir: " + model_.graph + " with " + weights +
                     ": 5 problems with its weights and inputs:\n"
                     "  Weight 'linear.weight' has shape [4, 5], expected [4, 4], and dtype "
                     "float64, expected float32.\n"
                     "  Missing weight 'linear.bias' (float32 [4]), read by node 'linear'.\n"
                     "  Unexpected weight 'linear.bais': the graph does not use it.\n"
                     "  Missing input 'x' (float32 [1, 4]).\n  " +
                     inputs + ": unexpected input 'y'; the graph's inputs are 'x'\n",
                 /*num_lines=*/6);
}

TEST_F(BadExecution, WithNanWhereItIsRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor bias = at::tensor({1.0f, nan, 2.0f, nan});
  const std::string weights =
      tensor_file("nan.safetensors", {{"linear.weight", at::zeros({4, 4})}, {"linear.bias", bias}});
  const std::string inputs = tensor_file("nan_inputs.safetensors", {{"x", bias.view({1, 4})}});
  expect_failure({"--inputs", inputs, "--weights", weights, "--reject-nan"},
                 model_.graph + " with " + weights +
                     ": 2 problems with its weights and inputs:\n"
                     "  Weight 'linear.bias' has 2 NaN among 4 elements.\n"
                     "  Input 'x' has 2 NaN among 4 elements.\n",
                 /*num_lines=*/3);
  expect_failure({"--inputs", model_.inputs, "--weights", model_.weights, "--constants",
                  tensor_file("mask.safetensors", {{"mask", bias}}), "--reject-nan"},
                 ": Weight 'mask' has 2 NaN among 4 elements.\n");
  EXPECT_EQ(torch_ir({"execute", model_.graph, "--inputs", inputs, "--weights", weights,
                      "--outputs", path("any.safetensors")})
                .status,
            0);
}

TEST_F(BadExecution, WithOneFileThatDoesNotFit) {
  const auto expect_failure_with = [&](const std::string& inputs, const std::string& message) {
    expect_failure({"--inputs", inputs, "--weights", model_.weights}, message);
  };
  expect_failure_with(tensor_file("none.safetensors", {}),
                      ": Missing input 'x' (float32 [1, 4]).\n");
  expect_failure_with(tensor_file("wide.safetensors", {{"x", at::zeros({1, 5})}}),
                      "shape [1, 5], expected [1, 4]");
  expect_failure_with(path("none"), path("none"));
  const std::string constants = tensor_file("c.safetensors", {{"msk", at::zeros({4})}});
  expect_failure({"--inputs", model_.inputs, "--weights", model_.weights, "--constants", constants},
                 constants + ": the graph has no constant 'msk'; did you mean 'mask'?\n");
}

TEST_F(BadExecution, IsNotAGraphThatIsWrongAboutAShape) {
  IR ir = load_ir(model_.graph);
  ir.nodes[0].outputs[0].shape = {7, 9};
  for (TensorMeta& input : ir.nodes[1].inputs) {
    if (input.name == ir.nodes[0].outputs[0].name) input.shape = {7, 9};
  }
  const std::string graph = graph_file("wrong.json", ir);
  const auto run = torch_ir({"execute", graph, "--weights", model_.weights, "--inputs",
                             model_.inputs, "--outputs", path("outputs.safetensors")});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err,
            "torch-ir: warning: node 'linear' (aten.linear.default): output 'linear' is float32 "
            "[1, 4], but the IR declares float32 [7, 9]; the run goes on with what PyTorch's "
            "operator returned\n");
  EXPECT_THAT(files(), testing::Contains("outputs.safetensors"));
}

TEST_F(ExecuteTest, OverwritesNoInput) {
  const MaskedLinear model = masked_linear();
  const std::string constants = tensor_file("constants.safetensors", {{"mask", at::zeros({4})}});
  for (const std::string& input : {model.graph, model.weights, constants, model.inputs}) {
    const std::string content = read_file(input);
    const std::string output = path("./" + std::filesystem::path(input).filename().string());
    expect_refused(
        torch_ir({"execute", model.graph, "--weights", model.weights, "--constants", constants,
                  "--inputs", model.inputs, "--outputs", output}),
        output + ": writing there would overwrite the input '" + input + "'; write elsewhere");
    EXPECT_EQ(read_file(input), content);
  }
}

TEST_F(ExecuteTest, WritesNoSafetensorsUnderAnotherName) {
  const MaskedLinear model = masked_linear();
  const auto execute = [&](const std::string& outputs) {
    return torch_ir({"execute", model.graph, "--weights", model.weights, "--inputs", model.inputs,
                     "--outputs", outputs});
  };
  expect_refused(execute(path("outputs.pt")), "cannot write outputs to '" + path("outputs.pt") +
                                                  "'; expected a name that ends in .safetensors");
  EXPECT_THAT(files(), Not(testing::Contains("outputs.pt")));
  EXPECT_EQ(execute("/dev/null").status, 0) << "a device has no name to choose";
}

// LibTorch lists all backends that it knows.
TEST_F(ExecuteTest, SaysOnceThatAGraphIsOfAnotherDevice) {
  const std::string graph = graph_file(
      "xla.json", TestGraphBuilder("Xla")
                      .op("zeros", "aten.zeros.default", {}, {4},
                          {{"size", Attribute::list({4})}, {"device", c10::Device("xla")}})
                      .output("zeros")
                      .build());
  const Outcome execute = torch_ir({"execute", graph, "--inputs", tensor_file("x.safetensors", {}),
                                    "--outputs", path("outputs.safetensors")});
  EXPECT_EQ(execute.status, 0);
  EXPECT_EQ(execute.err, "torch-ir: warning: The graph names the device xla; it runs on cpu.\n");
}

}  // namespace
}  // namespace torch_ir
