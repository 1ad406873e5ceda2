// Tests that capture in C++ gives the graphs of Python's torch.export, for each model with a file
// in testdata/, which make_python_graphs.py writes.

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "torch_ir/converter/extract.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

IR extract_registered(const std::string& name) {
  const RegisteredModel& registered = find_model(name);
  const Model model = registered.make();
  model.module()->eval();
  ExtractOptions options;
  options.model_name = registered.name;
  std::vector<at::Tensor> inputs;
  for (const ModelInput& input : registered.spec.inputs) {
    inputs.push_back(at::zeros(input.shape, at::dtype(input.dtype)));
    options.input_names.push_back(input.name);
  }
  return extract_ir(model, inputs, options);
}

// The parts of a node, so that a difference shows where it is.
std::string text_of(const OpNode& node) {
  std::ostringstream text;
  const auto add = [&](const TensorMeta& value) {
    text << "\n  " << value.name << " " << shape_text(value.shape) << " " << value.dtype << " from "
         << value.producer_node.value_or("nowhere") << " " << value.producer_output_idx << " "
         << value.arg;
  };
  text << node.name << ": " << node.op_type;
  for (const TensorMeta& input : node.inputs) add(input);
  text << "\n  ->";
  for (const TensorMeta& output : node.outputs) add(output);
  for (const auto& [name, value] : node.attrs) text << "\n  " << name << " = " << value;
  return text.str();
}

// The models with a file in testdata/.
std::vector<std::string> twins() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("models/testdata")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

class PythonGraphsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PythonGraphsTest, CaptureGivesTheGraphOfTorchExport) {
  IR expected = load_ir("models/testdata/" + GetParam() + ".json");
  IR actual = extract_registered(GetParam());
  // The Python package does not keep it.
  for (TensorMeta& weight : actual.weights) weight.requires_grad = false;

  ASSERT_EQ(actual.nodes.size(), expected.nodes.size());
  for (size_t i = 0; i < actual.nodes.size(); ++i) {
    EXPECT_EQ(text_of(actual.nodes[i]), text_of(expected.nodes[i]));
  }
  EXPECT_THAT(actual.weights, ::testing::ElementsAreArray(expected.weights));
  // The version of PyTorch that wrote the file does not belong to the graph.
  actual.pytorch_version = expected.pytorch_version;
  EXPECT_EQ(serialize_ir(actual), serialize_ir(expected));
  EXPECT_TRUE(actual == expected);
}

INSTANTIATE_TEST_SUITE_P(Twins, PythonGraphsTest, ::testing::ValuesIn(twins()),
                         [](const auto& test) { return test.param; });

TEST(PythonTwinsTest, AreOfModelsOfTheRegistry) {
  std::vector<std::string> registered;
  for (const RegisteredModel& model : list_models()) registered.push_back(model.name);
  EXPECT_FALSE(twins().empty());
  EXPECT_THAT(registered, ::testing::IsSupersetOf(twins()));
}

}  // namespace
}  // namespace torch_ir
