#include "torch_ir/converter/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/functional.h>
#include <torch/nn/modules.h>
#include <torch/types.h>

#include <sstream>
#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/warning_texts.h"
#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/exporter/meta/meta_device.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

struct MaskedImpl : torch::nn::Module, LiftedConstants {
  explicit MaskedImpl(const at::Tensor& value = torch::tensor({1.f, 0.f, 1.f, 0.f}))
      : linear(register_module("linear", torch::nn::Linear(4, 4))) {
    mask = register_constant("mask", value);
  }
  at::Tensor forward(const at::Tensor& x) { return linear(x) * mask; }
  torch::nn::Linear linear;
  at::Tensor mask;
};
TORCH_MODULE(Masked);

TEST(ExtractTest, IsNamedAfterTheModelUnlessTold) {
  const std::vector<at::Tensor> inputs = {torch::ones({1, 4})};
  EXPECT_EQ(extract_ir(Masked(), inputs).model_name, "Masked");
  EXPECT_EQ(extract_ir(Masked(), inputs, {.model_name = "MyCustomModel_v2"}).model_name,
            "MyCustomModel_v2");
  EXPECT_THAT([] { (void)extract_ir(Masked(), {}, {.model_name = "Mine"}); },
              ::testing::ThrowsMessage<ExportError>(
                  "cannot export model 'Mine': forward takes 1 tensor, 0 given"));
  std::ostringstream stream;
  stream << extract_ir(Masked(), {torch::ones({1, 4})}, {.model_name = "B"});
  EXPECT_EQ(stream.str(), "IR(model_name='B', nodes=2, inputs=1, outputs=1, weights=3)");
}

TEST(ExtractTest, WarnsOnMetaThatConstantsHaveNoValues) {
  WarningTexts warnings;
  const MetaDeviceGuard meta;
  const IR ir = extract_ir(Masked(), {torch::ones({1, 4})}, {.strict = true});
  EXPECT_TRUE(ir.constants.is_empty());
  EXPECT_EQ(ir.weights.back().name, "mask");
  EXPECT_THAT(warnings.texts, ElementsAre("Skipping 1 meta-device constant(s) (shape/dtype already "
                                          "in weights): ['mask']"));
}

// "relu: aten.relu.default(linear) 1x2"
std::vector<std::string> nodes(const IR& ir) {
  std::vector<std::string> lines;
  for (const OpNode& node : ir.nodes) {
    std::string line = node.name + ": " + node.op_type + "(";
    for (const TensorMeta& input : node.inputs) {
      line += (line.ends_with("(") ? "" : ", ") + input.name;
    }
    line += ")";
    for (const TensorMeta& output : node.outputs) line += " " + shape_text(output.shape);
    lines.push_back(line);
  }
  return lines;
}

// As those of torch.export for the same modules in Python; python_graphs_test.cc has more.
TEST(ExtractTest, ContainersAndLstmsHaveTheNodesOfPython) {
  namespace nn = torch::nn;
  const nn::Sequential sequential(nn::Linear(4, 3), nn::ReLU(nn::ReLUOptions(true)),
                                  nn::Linear(3, 2));
  EXPECT_THAT(nodes(extract_ir(sequential, {torch::ones({1, 4})})),
              ElementsAre("linear: aten.linear.default(x, p_0_weight, p_0_bias) 1x3",
                          "relu_: aten.relu_.default(linear) 1x3",
                          "linear_1: aten.linear.default(relu_, p_2_weight, p_2_bias) 1x2"));
  const nn::LSTM lstm(nn::LSTMOptions(8, 16).batch_first(true));
  EXPECT_THAT(
      nodes(extract_ir(lstm, {torch::ones({2, 5, 8})})),
      ElementsAre("zeros: aten.zeros.default() 1x2x16", "zeros_1: aten.zeros.default() 1x2x16",
                  "lstm: aten.lstm.input(x, zeros, zeros_1, p_weight_ih_l0, p_weight_hh_l0, "
                  "p_bias_ih_l0, p_bias_hh_l0) 2x5x16 1x2x16 1x2x16"));
}

TEST(ExtractTest, KeepsTheValuesOfConstantsThatHaveThemOnMeta) {
  const at::Tensor value = torch::tensor({1.f, 2.f, 3.f, 4.f});
  const MetaDeviceGuard meta;
  const Masked model(value);
  EXPECT_TRUE(model->mask.is_meta());
  const IR ir = extract_ir(model, {torch::ones({1, 4})}, {.strict = true});
  EXPECT_TRUE(torch::equal(ir.constants["mask"], value));
}

struct UnregisteredImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) { return x.exp() * scale; }
  at::Tensor scale = torch::tensor({1.f, 2.f, 3.f});
};
TORCH_MODULE(Unregistered);

TEST(ExtractTest, RefusesUnregisteredConstantsWithoutValues) {
  const IR ir = extract_ir(Unregistered(), {torch::ones({3})});
  EXPECT_TRUE(torch::equal(ir.constants["lifted_tensor_0"], torch::tensor({1.f, 2.f, 3.f})));
  const MetaDeviceGuard meta;
  EXPECT_THAT([] { (void)extract_ir(Unregistered(), {torch::ones({3})}, {.model_name = "Mine"}); },
              ::testing::ThrowsMessage<ExportError>(
                  "cannot export model 'Mine': constant 'lifted_tensor_0' (float32 [3]), read by "
                  "node 'mul', has no values: it is a tensor of the module that is neither a "
                  "parameter nor a buffer, on the meta device; name it with register_constant "
                  "(lifted_constants.h), or make the module on the CPU"));
}

}  // namespace
}  // namespace torch_ir
