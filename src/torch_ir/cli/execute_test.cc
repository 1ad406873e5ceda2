#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

#include "torch_ir/base/file.h"
#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ExecuteTest : public CliTest {
 protected:
  std::vector<std::string> command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"execute", model_.graph, "--outputs", outputs_});
    return arguments;
  }

  // Invalid input gives status 2, one line or one line and a list, and no output file.
  void expect_failure(const std::vector<std::string>& arguments, const std::string& message,
                      int num_lines = 1) const {
    expect_failed(torch_ir(command(arguments)), AllOf(StartsWith("torch-ir: "), HasSubstr(message)),
                  num_lines);
    EXPECT_THAT(files(), Not(testing::Contains("outputs.safetensors")));
  }

  const MaskedLinear model_ = masked_linear();
  const std::string outputs_ = path("outputs.safetensors");
};

TEST_F(ExecuteTest, WritesTheOutputsUnderTheirNames) {
  EXPECT_EQ(printed(command({"--weights", model_.weights, "--inputs", model_.inputs})),
            "mul: float32 [1, 4]\n");
  const StateDict outputs = load_weights_safetensors(outputs_);
  EXPECT_THAT(outputs.keys(), testing::ElementsAre("mul"));
  EXPECT_TRUE(at::equal(outputs["mul"], model_.output));
}

TEST_F(ExecuteTest, NeedsNoWeightsForAGraphWithoutAny) {
  TestGraphBuilder graph("Add");
  graph.input("a", {2}).input("b", {2}).op("add", "aten.add.Tensor", {"a", "b"}, {2});
  graph.output("add").output("a").output("add");
  const std::string inputs =
      tensor_file("inputs.safetensors", {{"b", at::ones({2})}, {"a", at::tensor({3.0f, 4.0f})}});
  EXPECT_EQ(printed({"execute", graph_file("add.json", graph.build()), "--inputs", inputs,
                     "--outputs", outputs_, "--quiet"}),
            "");
  const StateDict outputs = load_weights_safetensors(outputs_);
  // A value that is returned twice is stored once.
  EXPECT_THAT(outputs.keys(), testing::UnorderedElementsAre("add", "a"));
  EXPECT_TRUE(at::equal(outputs["add"], at::tensor({4.0f, 5.0f})));
  EXPECT_TRUE(at::equal(outputs["a"], at::tensor({3.0f, 4.0f})));
}

TEST_F(ExecuteTest, TakesConstantsInPlaceOfThoseOfTheGraph) {
  const std::string constants = tensor_file("constants.safetensors", {{"mask", at::zeros({4})}});
  printed(
      command({"--weights", model_.weights, "--constants", constants, "--inputs", model_.inputs}));
  EXPECT_TRUE(at::equal(load_weights_safetensors(outputs_)["mul"], at::zeros({1, 4})));
}

TEST_F(ExecuteTest, NeedsTheWeightsOfTheGraph) {
  expect_failure({"--inputs", model_.inputs},
                 model_.graph +
                     " without --weights: 2 problems with its weights and inputs:\n"
                     "  Missing weight 'linear.weight' (float32 [4, 4]), read by node 'linear'.\n"
                     "  Missing weight 'linear.bias' (float32 [4]), read by node 'linear'.\n",
                 /*num_lines=*/3);
}

// Reports all problems at once, so that fixing them does not take one run each.
TEST_F(ExecuteTest, ListsAllThatIsWrong) {
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

TEST_F(ExecuteTest, RefusesNanOnRequest) {
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
  printed(command({"--inputs", inputs, "--weights", weights}));
}

TEST_F(ExecuteTest, RefusesAFileThatDoesNotFit) {
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

TEST_F(ExecuteTest, OnlyWarnsOfAGraphThatIsWrongAboutAShape) {
  TestGraphBuilder graph("Wrong");
  graph.input("x", {1, 4}).op("neg", "aten.neg.default", {"x"}, {7, 9}).output("neg");
  const Outcome outcome = torch_ir({"execute", graph_file("wrong.json", graph.build()), "--inputs",
                                    model_.inputs, "--outputs", outputs_});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err,
            "torch-ir: warning: node 'neg' (aten.neg.default): output 'neg' is float32 [1, 4], but "
            "the IR declares float32 [7, 9]; the run goes on with what PyTorch's operator "
            "returned\n");
  EXPECT_THAT(files(), testing::Contains("outputs.safetensors"));
}

TEST_F(ExecuteTest, OverwritesNoInput) {
  const std::string constants = tensor_file("constants.safetensors", {{"mask", at::zeros({4})}});
  for (const std::string& input : {model_.graph, model_.weights, constants, model_.inputs}) {
    const std::string content = read_file(input);
    const std::string output = path("./" + std::filesystem::path(input).filename().string());
    expect_refused(
        torch_ir({"execute", model_.graph, "--weights", model_.weights, "--constants", constants,
                  "--inputs", model_.inputs, "--outputs", output}),
        output + ": writing there would overwrite the input '" + input + "'; write elsewhere");
    EXPECT_EQ(read_file(input), content);
  }
}

TEST_F(ExecuteTest, WritesNoSafetensorsUnderAnotherName) {
  const auto execute_to = [&](const std::string& outputs) {
    return torch_ir({"execute", model_.graph, "--weights", model_.weights, "--inputs",
                     model_.inputs, "--outputs", outputs});
  };
  const std::string other = path("outputs.pt");
  expect_refused(execute_to(other), "cannot write outputs to '" + other +
                                        "'; expected a name that ends in .safetensors");
  EXPECT_THAT(files(), Not(testing::Contains("outputs.pt")));
  EXPECT_EQ(execute_to("/dev/null").status, 0) << "a device has no name to choose";
}

// LibTorch lists all backends that it knows.
TEST_F(ExecuteTest, SaysOnceThatAGraphIsOfAnotherDevice) {
  TestGraphBuilder graph("Xla");
  graph.op("zeros", "aten.zeros.default", {}, {4},
           {{"size", Attribute::list({4})}, {"device", c10::Device("xla")}});
  const Outcome outcome =
      torch_ir({"execute", graph_file("xla.json", graph.output("zeros").build()), "--inputs",
                tensor_file("x.safetensors", {}), "--outputs", outputs_});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "torch-ir: warning: The graph names the device xla; it runs on cpu.\n");
}

}  // namespace
}  // namespace torch_ir
