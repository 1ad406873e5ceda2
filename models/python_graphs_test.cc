// Capture in C++ gives the graphs that Python's torch.export gives: every model of the registry
// against testdata/, which make_python_graphs.py writes.

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <sstream>
#include <string>
#include <vector>

#include "torch_ir/converter/extract.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {
namespace {

IR extract_registered(const RegisteredModel& registered) {
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

// Whether cuDNN may be used is a property of the build and the machine, not of the model.
void forget_cudnn(IR& ir) {
  for (OpNode& node : ir.nodes) {
    AttributeMap kept;
    for (const auto& [name, value] : node.attrs) {
      if (!name.starts_with("cudnn_enable")) kept.set(name, value);
    }
    node.attrs = kept;
  }
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

class PythonGraphsTest : public ::testing::TestWithParam<RegisteredModel> {};

TEST_P(PythonGraphsTest, CaptureGivesTheGraphOfTorchExport) {
  IR expected = load_ir("models/testdata/" + GetParam().name + ".json");
  IR actual = extract_registered(GetParam());
  forget_cudnn(expected);
  forget_cudnn(actual);

  ASSERT_EQ(actual.nodes.size(), expected.nodes.size());
  for (size_t i = 0; i < actual.nodes.size(); ++i) {
    EXPECT_EQ(text_of(actual.nodes[i]), text_of(expected.nodes[i]));
  }
  EXPECT_THAT(actual.weights, ::testing::ElementsAreArray(expected.weights));
  // The version of PyTorch that wrote the file is no part of the graph.
  actual.pytorch_version = expected.pytorch_version;
  EXPECT_EQ(serialize_ir(actual), serialize_ir(expected));
  EXPECT_TRUE(actual == expected);
}

INSTANTIATE_TEST_SUITE_P(Registry, PythonGraphsTest, ::testing::ValuesIn(list_models()),
                         [](const auto& test) { return test.param.name; });

TEST(PythonGraphsCoverageTest, CoverTheRegistry) { EXPECT_EQ(list_models().size(), 12u); }

}  // namespace
}  // namespace torch_ir
