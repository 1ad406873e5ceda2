// Extracts the models of the usage guide's chapter on model types, and some more, on the meta
// device, and compares the graphs with those of torch.export for the same modules in Python.
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/functional.h>
#include <torch/nn/modules.h>

#include <algorithm>
#include <fstream>
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

struct ResNet18Impl : nn::Module {
  ResNet18Impl()
      : conv1(nn::Conv2dOptions(3, 64, 7).stride(2).padding(3).bias(false)),
        bn1(64),
        relu(nn::ReLUOptions(true)),
        maxpool(nn::MaxPool2dOptions(3).stride(2).padding(1)),
        avgpool(nn::AdaptiveAvgPool2dOptions({1, 1})),
        fc(512, 1000) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("relu", relu);
    register_module("maxpool", maxpool);
    int64_t width = 64;
    for (int64_t stage = 0; stage < 4; ++stage) {
      const int64_t out = int64_t{64} << stage;
      stages.emplace_back(BasicBlock(width, out, stage == 0 ? 1 : 2), BasicBlock(out, out, 1));
      register_module("layer" + std::to_string(stage + 1), stages.back());
      width = out;
    }
    register_module("avgpool", avgpool);
    register_module("fc", fc);
  }
  Tensor forward(Tensor x) {
    x = maxpool(relu(bn1(conv1(x))));
    for (nn::Sequential& stage : stages) x = stage->forward(x);
    return fc(torch::flatten(avgpool(x), 1));
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::ReLU relu;
  nn::MaxPool2d maxpool;
  std::vector<nn::Sequential> stages;
  nn::AdaptiveAvgPool2d avgpool;
  nn::Linear fc;
};
TORCH_MODULE(ResNet18);

TEST(UsageGuide, ResNet18) {
  const IR ir = extract_on_meta([] { return ResNet18(); }, {meta({1, 3, 224, 224})});
  EXPECT_EQ(ir.model_name, "ResNet18");
  EXPECT_THAT(
      counts(ir),
      UnorderedElementsAre(Pair("aten.conv2d.default", 20), Pair("aten.batch_norm.default", 20),
                           Pair("aten.relu_.default", 17), Pair("aten.max_pool2d.default", 1),
                           Pair("aten.add_.Tensor", 8), Pair("aten.adaptive_avg_pool2d.default", 1),
                           Pair("aten.flatten.using_ints", 1), Pair("aten.linear.default", 1)));
  EXPECT_THAT(
      nodes(ir, 0, 5),
      ElementsAre("conv2d: aten.conv2d.default(x, p_conv1_weight) 1x64x112x112",
                  "batch_norm: aten.batch_norm.default(conv2d, p_bn1_weight, p_bn1_bias, "
                  "b_bn1_running_mean, b_bn1_running_var) 1x64x112x112",
                  "relu_: aten.relu_.default(batch_norm) 1x64x112x112",
                  "max_pool2d: aten.max_pool2d.default(relu_) 1x64x56x56",
                  "conv2d_1: aten.conv2d.default(max_pool2d, p_layer1_0_conv1_weight) 1x64x56x56"));
  EXPECT_EQ(nodes(ir).back(),
            "linear: aten.linear.default(flatten, p_fc_weight, p_fc_bias) 1x1000");
  EXPECT_EQ(ir.nodes.size(), 69u);
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
      nodes(ir, 0, 33),
      ElementsAre("linear: aten.linear.default(x, p_layers_0_self_attn_in_proj_weight, "
                  "p_layers_0_self_attn_in_proj_bias) 10x1x1536",
                  "chunk: aten.chunk.default(linear) 10x1x512 10x1x512 10x1x512",
                  "mul: aten.mul.Tensor(chunk_0) 10x1x512", "view: aten.view.default(mul) 10x8x64",
                  "transpose: aten.transpose.int(view) 8x10x64",
                  "contiguous: aten.contiguous.default(chunk_1) 10x1x512",
                  "view_1: aten.view.default(contiguous) 10x8x64",
                  "transpose_1: aten.transpose.int(view_1) 8x10x64",
                  "contiguous_1: aten.contiguous.default(chunk_2) 10x1x512",
                  "view_2: aten.view.default(contiguous_1) 10x8x64",
                  "transpose_2: aten.transpose.int(view_2) 8x10x64",
                  "transpose_3: aten.transpose.int(transpose_1) 8x64x10",
                  "bmm: aten.bmm.default(transpose, transpose_3) 8x10x10",
                  "softmax: aten.softmax.int(bmm) 8x10x10",
                  "dropout: aten.dropout.default(softmax) 8x10x10",
                  "bmm_1: aten.bmm.default(dropout, transpose_2) 8x10x64",
                  "transpose_4: aten.transpose.int(bmm_1) 10x8x64",
                  "contiguous_2: aten.contiguous.default(transpose_4) 10x8x64",
                  "view_3: aten.view.default(contiguous_2) 10x1x512",
                  "linear_1: aten.linear.default(view_3, p_layers_0_self_attn_out_proj_weight, "
                  "p_layers_0_self_attn_out_proj_bias) 10x1x512",
                  "view_4: aten.view.default(dropout) 1x8x10x10",
                  "sum_1: aten.sum.dim_IntList(view_4) 1x10x10",
                  "div: aten.div.Tensor(sum_1) 1x10x10",
                  "dropout_1: aten.dropout.default(linear_1) 10x1x512",
                  "add: aten.add.Tensor(x, dropout_1) 10x1x512",
                  "layer_norm: aten.layer_norm.default(add, p_layers_0_norm1_weight, "
                  "p_layers_0_norm1_bias) 10x1x512",
                  "linear_2: aten.linear.default(layer_norm, p_layers_0_linear1_weight, "
                  "p_layers_0_linear1_bias) 10x1x2048",
                  "relu: aten.relu.default(linear_2) 10x1x2048",
                  "dropout_2: aten.dropout.default(relu) 10x1x2048",
                  "linear_3: aten.linear.default(dropout_2, p_layers_0_linear2_weight, "
                  "p_layers_0_linear2_bias) 10x1x512",
                  "dropout_3: aten.dropout.default(linear_3) 10x1x512",
                  "add_1: aten.add.Tensor(layer_norm, dropout_3) 10x1x512",
                  "layer_norm_1: aten.layer_norm.default(add_1, p_layers_0_norm2_weight, "
                  "p_layers_0_norm2_bias) 10x1x512"));
  EXPECT_EQ(ir.nodes.size(), 6 * 33u);
  EXPECT_EQ(parameters(ir), 18'914'304);
  EXPECT_THAT(ir.graph_outputs.at(0).shape, ElementsAre(10, 1, 512));
}

struct MultiInputModelImpl : nn::Module {
  MultiInputModelImpl() : fc1(10, 20), fc2(5, 20), fc3(40, 10) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
  }
  Tensor forward(const Tensor& x1, const Tensor& x2) {
    return fc3(torch::cat({fc1(x1), fc2(x2)}, 1));
  }
  nn::Linear fc1, fc2, fc3;
};
TORCH_MODULE(MultiInputModel);

TEST(UsageGuide, MultiInput) {
  const IR ir = extract_on_meta([] { return MultiInputModel(); }, {meta({1, 10}), meta({1, 5})});
  EXPECT_THAT(nodes(ir),
              ElementsAre("linear: aten.linear.default(x1, p_fc1_weight, p_fc1_bias) 1x20",
                          "linear_1: aten.linear.default(x2, p_fc2_weight, p_fc2_bias) 1x20",
                          "cat: aten.cat.default(linear, linear_1) 1x40",
                          "linear_2: aten.linear.default(cat, p_fc3_weight, p_fc3_bias) 1x10"));
}

struct TaggerImpl : nn::Module {
  TaggerImpl() : lstm(nn::LSTMOptions(8, 16).num_layers(2).batch_first(true)), head(16, 4) {
    register_module("lstm", lstm);
    register_module("head", head);
  }
  Tensor forward(const Tensor& x) { return head(std::get<0>(lstm(x))); }
  nn::LSTM lstm;
  nn::Linear head;
};
TORCH_MODULE(Tagger);

TEST(UsageGuide, Lstm) {
  const IR ir = extract_on_meta([] { return Tagger(); }, {meta({2, 5, 8})});
  EXPECT_THAT(
      nodes(ir),
      ElementsAre("zeros: aten.zeros.default() 2x2x16", "zeros_1: aten.zeros.default() 2x2x16",
                  "lstm: aten.lstm.input(x, zeros, zeros_1, p_lstm_weight_ih_l0, "
                  "p_lstm_weight_hh_l0, p_lstm_bias_ih_l0, p_lstm_bias_hh_l0, "
                  "p_lstm_weight_ih_l1, p_lstm_weight_hh_l1, p_lstm_bias_ih_l1, "
                  "p_lstm_bias_hh_l1) 2x5x16 2x2x16 2x2x16",
                  "linear: aten.linear.default(lstm_0, p_head_weight, p_head_bias) 2x5x4"));
}

TEST(UsageGuide, Gru) {
  const auto make = [] { return nn::GRU(nn::GRUOptions(8, 16).bidirectional(true)); };
  const IR ir = extract_on_meta(make, {meta({5, 2, 8})});
  EXPECT_THAT(nodes(ir),
              ElementsAre("zeros: aten.zeros.default() 2x2x16",
                          "gru: aten.gru.input(x, zeros, p_weight_ih_l0, p_weight_hh_l0, "
                          "p_bias_ih_l0, p_bias_hh_l0, p_weight_ih_l0_reverse, "
                          "p_weight_hh_l0_reverse, p_bias_ih_l0_reverse, p_bias_hh_l0_reverse) "
                          "5x2x32 2x2x16"));
  EXPECT_EQ(ir.graph_outputs.size(), 2u);
}

struct UNetImpl : nn::Module {
  UNetImpl()
      : down1(block(3, 16)),
        pool(2),
        down2(block(16, 32)),
        up(nn::ConvTranspose2dOptions(32, 16, 2).stride(2)),
        up1(block(32, 16)),
        out(nn::Conv2dOptions(16, 2, 1)) {
    register_module("down1", down1);
    register_module("pool", pool);
    register_module("down2", down2);
    register_module("up", up);
    register_module("up1", up1);
    register_module("out", out);
  }
  static nn::Sequential block(int64_t in, int64_t out) {
    return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)),
                          nn::GroupNorm(nn::GroupNormOptions(4, out)), nn::ReLU());
  }
  Tensor forward(const Tensor& x) {
    const Tensor fine = down1->forward(x);
    const Tensor coarse = up(down2->forward(pool(fine)));
    return out(up1->forward(torch::cat({coarse, fine}, 1)));
  }
  nn::Sequential down1;
  nn::MaxPool2d pool;
  nn::Sequential down2;
  nn::ConvTranspose2d up;
  nn::Sequential up1;
  nn::Conv2d out;
};
TORCH_MODULE(UNet);

TEST(UsageGuide, UNet) {
  const IR ir = extract_on_meta([] { return UNet(); }, {meta({1, 3, 16, 16})});
  EXPECT_THAT(
      nodes(ir),
      ElementsAre(
          "conv2d: aten.conv2d.default(x, p_down1_0_weight, p_down1_0_bias) 1x16x16x16",
          "group_norm: aten.group_norm.default(conv2d, p_down1_1_weight, p_down1_1_bias) "
          "1x16x16x16",
          "relu: aten.relu.default(group_norm) 1x16x16x16",
          "max_pool2d: aten.max_pool2d.default(relu) 1x16x8x8",
          "conv2d_1: aten.conv2d.default(max_pool2d, p_down2_0_weight, p_down2_0_bias) 1x32x8x8",
          "group_norm_1: aten.group_norm.default(conv2d_1, p_down2_1_weight, p_down2_1_bias) "
          "1x32x8x8",
          "relu_1: aten.relu.default(group_norm_1) 1x32x8x8",
          "conv_transpose2d: aten.conv_transpose2d.input(relu_1, p_up_weight, p_up_bias) "
          "1x16x16x16",
          "cat: aten.cat.default(conv_transpose2d, relu) 1x32x16x16",
          "conv2d_2: aten.conv2d.default(cat, p_up1_0_weight, p_up1_0_bias) 1x16x16x16",
          "group_norm_2: aten.group_norm.default(conv2d_2, p_up1_1_weight, p_up1_1_bias) "
          "1x16x16x16",
          "relu_2: aten.relu.default(group_norm_2) 1x16x16x16",
          "conv2d_3: aten.conv2d.default(relu_2, p_out_weight, p_out_bias) 1x2x16x16"));
}

void expect_same_graph_on_real_tensors(const auto& make,
                                       const std::vector<std::vector<int64_t>>& input_sizes) {
  std::vector<Tensor> on_meta;
  std::vector<Tensor> real;
  for (const std::vector<int64_t>& sizes : input_sizes) {
    on_meta.push_back(meta(sizes));
    real.push_back(torch::rand(sizes));
  }
  auto model = make();
  model->eval();
  EXPECT_EQ(nodes(extract_on_meta(make, on_meta)), nodes(extract_ir(model, real)));
}

// LibTorch dispatches operators differently on meta tensors than on real ones.
TEST(UsageGuide, GraphsAreThoseOfRealTensors) {
  expect_same_graph_on_real_tensors([] { return ResNet18(); }, {{1, 3, 64, 64}});
  expect_same_graph_on_real_tensors([] { return MultiInputModel(); }, {{1, 10}, {1, 5}});
  expect_same_graph_on_real_tensors([] { return Tagger(); }, {{2, 5, 8}});
  expect_same_graph_on_real_tensors([] { return UNet(); }, {{1, 3, 16, 16}});
  expect_same_graph_on_real_tensors(
      [] {
        const nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(32, 4));
        return nn::TransformerEncoder(nn::TransformerEncoderOptions(layer, 2));
      },
      {{10, 1, 32}});
}

// Peak resident memory of this process.
int64_t peak_megabytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kilobytes = 0;
  while (status >> word && word != "VmHWM:") {
  }
  status >> kilobytes;
  return kilobytes / 1024;
}

TEST(UsageGuide, HundredBillionParametersTakeNoMemory) {
  const int64_t before = peak_megabytes();
  const auto make = [] {
    const nn::TransformerEncoderLayer layer(
        nn::TransformerEncoderLayerOptions(12288, 96).dim_feedforward(4 * 12288));
    return nn::TransformerEncoder(nn::TransformerEncoderOptions(layer, 56));
  };
  const IR ir = extract_on_meta(make, {meta({128, 1, 12288})});
  EXPECT_GT(parameters(ir), 100'000'000'000);
  EXPECT_THAT(ir.graph_outputs.at(0).shape, ElementsAre(128, 1, 12288));
  EXPECT_LT(peak_megabytes() - before, 1000);
}

}  // namespace
}  // namespace torch_ir
