// Extracts the models of the usage guide's chapter on model types, and some more, on the meta
// device, and compares the graphs with those of torch.export for the same modules in Python.
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/functional.h>
#include <torch/nn/modules.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "torch_ir/converter/extract.h"
#include "torch_ir/exporter/meta/meta_device.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;
using at::Tensor;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

Tensor meta(at::IntArrayRef sizes) { return at::empty(sizes, at::TensorOptions(at::kMeta)); }

// The model, made by `make` without weights, in eval mode.
IR extract_on_meta(const auto& make, const std::vector<Tensor>& inputs,
                   const ExtractOptions& options = {.strict = true}) {
  const MetaDeviceGuard guard;
  auto model = make();
  model->eval();
  return extract_ir(model, inputs, options);
}

std::map<std::string, int> counts(const IR& ir) {
  std::map<std::string, int> counts;
  for (const OpNode& node : ir.nodes) ++counts[node.op_type];
  return counts;
}

// "relu: aten.relu.default(linear) 1x256", for the nodes in [first, last).
std::vector<std::string> nodes(const IR& ir, size_t first = 0, size_t last = -1) {
  std::vector<std::string> lines;
  for (size_t i = first; i < std::min(last, ir.nodes.size()); ++i) {
    const OpNode& node = ir.nodes[i];
    std::string line = node.name + ": " + node.op_type + "(";
    for (size_t j = 0; j < node.inputs.size(); ++j) line += (j ? ", " : "") + node.inputs[j].name;
    line += ")";
    for (const TensorMeta& output : node.outputs) line += " " + shape_text(output.shape);
    lines.push_back(line);
  }
  return lines;
}

int64_t parameters(const IR& ir) {
  int64_t sum = 0;
  for (const TensorMeta& weight : ir.weights) sum += num_elements(weight);
  return sum;
}

struct BasicBlockImpl : nn::Module {
  BasicBlockImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)),
        bn1(out),
        relu(nn::ReLUOptions(true)),
        conv2(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)),
        bn2(out) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("relu", relu);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    if (stride == 1 && in == out) return;
    downsample = nn::Sequential(
        nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)), nn::BatchNorm2d(out));
    register_module("downsample", downsample);
  }
  Tensor forward(const Tensor& x) {
    Tensor y = relu(bn1(conv1(x)));
    y = bn2(conv2(y));
    y += downsample ? downsample->forward(x) : x;
    return relu(y);
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::ReLU relu;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential downsample = nullptr;
};
TORCH_MODULE(BasicBlock);

TEST(UsageGuide, BlockOfAResNet) {
  const IR ir = extract_on_meta([] { return BasicBlock(64, 128, 2); }, {meta({1, 64, 16, 16})});
  EXPECT_EQ(ir.model_name, "BasicBlock");
  EXPECT_THAT(counts(ir), UnorderedElementsAre(
                              Pair("aten.conv2d.default", 3), Pair("aten.batch_norm.default", 3),
                              Pair("aten.relu_.default", 2), Pair("aten.add_.Tensor", 1)));
  EXPECT_THAT(nodes(ir, 0, 3),
              ElementsAre("conv2d: aten.conv2d.default(x, p_conv1_weight) 1x128x8x8",
                          "batch_norm: aten.batch_norm.default(conv2d, p_bn1_weight, p_bn1_bias, "
                          "b_bn1_running_mean, b_bn1_running_var) 1x128x8x8",
                          "relu_: aten.relu_.default(batch_norm) 1x128x8x8"));
}

TEST(UsageGuide, Sequential) {
  const auto make = [] {
    return nn::Sequential(nn::Linear(784, 256), nn::ReLU(), nn::Dropout(0.2), nn::Linear(256, 128),
                          nn::ReLU(), nn::Linear(128, 10));
  };
  const IR ir = extract_on_meta(make, {meta({1, 784})}, {.model_name = "MLP", .strict = true});
  EXPECT_THAT(nodes(ir),
              ElementsAre("linear: aten.linear.default(x, p_0_weight, p_0_bias) 1x256",
                          "relu: aten.relu.default(linear) 1x256",
                          "dropout: aten.dropout.default(relu) 1x256",
                          "linear_1: aten.linear.default(dropout, p_3_weight, p_3_bias) 1x128",
                          "relu_1: aten.relu.default(linear_1) 1x128",
                          "linear_2: aten.linear.default(relu_1, p_5_weight, p_5_bias) 1x10"));
}

TEST(UsageGuide, TransformerEncoder) {
  const auto make = [] {
    const nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(512, 8));
    return nn::TransformerEncoder(nn::TransformerEncoderOptions(layer, 6));
  };
  const IR ir = extract_on_meta(make, {meta({10, 1, 512})});
  // torch::nn::MultiheadAttention spells its attention out where Python's calls
  // scaled_dot_product_attention, and computes weights that the encoder does not use.
  EXPECT_THAT(
      nodes(ir, 0, 5),
      ElementsAre("linear: aten.linear.default(x, p_layers_0_self_attn_in_proj_weight, "
                  "p_layers_0_self_attn_in_proj_bias) 10x1x1536",
                  "chunk: aten.chunk.default(linear) 10x1x512 10x1x512 10x1x512",
                  "mul: aten.mul.Tensor(chunk_0) 10x1x512", "view: aten.view.default(mul) 10x8x64",
                  "transpose: aten.transpose.int(view) 8x10x64"));
  EXPECT_EQ(ir.nodes.size(), 6 * 33u);
  EXPECT_EQ(parameters(ir), 18'914'304);
  EXPECT_THAT(ir.graph_outputs.at(0).shape, ElementsAre(10, 1, 512));
}

TEST(UsageGuide, Lstm) {
  const auto make = [] { return nn::LSTM(nn::LSTMOptions(8, 16).num_layers(2).batch_first(true)); };
  const IR ir = extract_on_meta(make, {meta({2, 5, 8})});
  EXPECT_THAT(
      nodes(ir),
      ElementsAre("zeros: aten.zeros.default() 2x2x16", "zeros_1: aten.zeros.default() 2x2x16",
                  "lstm: aten.lstm.input(x, zeros, zeros_1, p_weight_ih_l0, p_weight_hh_l0, "
                  "p_bias_ih_l0, p_bias_hh_l0, p_weight_ih_l1, p_weight_hh_l1, p_bias_ih_l1, "
                  "p_bias_hh_l1) 2x5x16 2x2x16 2x2x16"));
  EXPECT_EQ(ir.graph_outputs.size(), 3u);
}

// LibTorch dispatches operators differently on meta tensors than on real ones.
TEST(UsageGuide, GraphsAreThoseOfRealTensors) {
  const auto make = [] { return BasicBlock(4, 8, 2); };
  BasicBlock block = make();
  block->eval();
  EXPECT_EQ(nodes(extract_on_meta(make, {meta({1, 4, 16, 16})})),
            nodes(extract_ir(block, {torch::rand({1, 4, 16, 16})})));
}

}  // namespace
}  // namespace torch_ir
