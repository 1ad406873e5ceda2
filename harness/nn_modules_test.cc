// Every kind of torch::nn module goes through the pipeline: it extracts on the meta device, to the
// graph that it has on real tensors, and that graph computes the same as the module.
#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <c10/util/StringUtil.h>
#include <gtest/gtest.h>
#include <torch/nn/functional.h>
#include <torch/nn/modules.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "torch_ir/converter/extract.h"
#include "torch_ir/exporter/meta/meta_device.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/verifier/verify.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;
using at::Tensor;

// Makes a model, in eval mode.
using MakeModel = std::function<Model()>;

struct ModuleCase {
  std::string name;
  MakeModel make;
  std::vector<Tensor> inputs;
};

// GoogleTest prints unknown types as bytes, which include addresses.
void PrintTo(const ModuleCase& module, std::ostream* out) { *out << module.name; }

template <class Holder>
Model in_eval_mode(Holder module) {
  module->eval();
  return Model(module);
}

// A case of the module `expression`.
#define MODULE(name, expression, ...)                              \
  ModuleCase {                                                     \
    name, [] { return in_eval_mode(expression); }, { __VA_ARGS__ } \
  }

Tensor floats(at::IntArrayRef sizes) { return at::rand(sizes); }
Tensor indices(at::IntArrayRef sizes) { return at::zeros(sizes, at::kLong); }

template <class Mode>
nn::Upsample upsample(const std::vector<double>& factors, Mode mode) {
  return nn::Upsample(nn::UpsampleOptions().scale_factor(factors).mode(mode).align_corners(false));
}

std::vector<ModuleCase> modules() {
  const Tensor row = floats({2, 6});
  const Tensor sequence = floats({2, 6, 8});
  const Tensor image = floats({2, 6, 8, 8});
  const Tensor volume = floats({2, 6, 4, 4, 4});
  return {
      MODULE("Linear", nn::Linear(6, 4), row),
      MODULE("LinearNoBias", nn::Linear(nn::LinearOptions(8, 4).bias(false)), sequence),
      MODULE("Linear3d", nn::Linear(8, 4), sequence),
      MODULE("Linear4d", nn::Linear(8, 4), image),
      MODULE("Linear1d", nn::Linear(6, 4), floats({6})),
      MODULE("Bilinear", nn::Bilinear(6, 6, 4), row, floats({2, 6})),
      MODULE("Identity", nn::Sequential(nn::Identity(), nn::ReLU()), row),
      MODULE("Flatten", nn::Flatten(), image),
      MODULE("Unflatten", nn::Unflatten(nn::UnflattenOptions(1, {2, 3})), row),
      MODULE("Embedding", nn::Embedding(10, 3), indices({2, 4})),
      MODULE("EmbeddingBag", nn::EmbeddingBag(10, 3), indices({2, 4})),
      MODULE("Conv1d", nn::Conv1d(6, 4, 3), sequence),
      MODULE("Conv2d", nn::Conv2d(6, 4, 3), image),
      MODULE("Conv2dReflect",
             nn::Conv2d(nn::Conv2dOptions(6, 4, 3).padding(1).padding_mode(torch::kReflect)),
             image),
      MODULE("Conv2dCircular",
             nn::Conv2d(nn::Conv2dOptions(6, 4, 3).padding(1).padding_mode(torch::kCircular)),
             image),
      MODULE("Conv2dSame", nn::Conv2d(nn::Conv2dOptions(6, 4, 3).padding(torch::kSame)), image),
      MODULE("Conv2dGroups", nn::Conv2d(nn::Conv2dOptions(6, 6, 3).groups(6)), image),
      MODULE("Conv3d", nn::Conv3d(6, 4, 3), volume),
      MODULE("ConvTranspose1d", nn::ConvTranspose1d(6, 4, 3), sequence),
      MODULE("ConvTranspose2d", nn::ConvTranspose2d(6, 4, 3), image),
      MODULE("ConvTranspose3d", nn::ConvTranspose3d(6, 4, 3), volume),
      MODULE("BatchNorm1d", nn::BatchNorm1d(6), row),
      MODULE("BatchNorm2d", nn::BatchNorm2d(6), image),
      MODULE("BatchNorm3d", nn::BatchNorm3d(6), volume),
      MODULE("InstanceNorm1d", nn::InstanceNorm1d(6), sequence),
      MODULE("InstanceNorm2d", nn::InstanceNorm2d(6), image),
      MODULE("InstanceNorm3d", nn::InstanceNorm3d(6), volume),
      MODULE(
          "InstanceNorm2dAffine",
          nn::InstanceNorm2d(nn::InstanceNorm2dOptions(6).affine(true).track_running_stats(true)),
          image),
      MODULE("LayerNorm", nn::LayerNorm(nn::LayerNormOptions({8})), image),
      MODULE("GroupNorm", nn::GroupNorm(2, 6), image),
      MODULE("LocalResponseNorm", nn::LocalResponseNorm(3), image),
      MODULE("Dropout", nn::Dropout(), row),
      MODULE("Dropout2d", nn::Dropout2d(), image),
      MODULE("Dropout3d", nn::Dropout3d(), volume),
      MODULE("AlphaDropout", nn::AlphaDropout(), row),
      MODULE("FeatureAlphaDropout", nn::FeatureAlphaDropout(), row),
      MODULE("MaxPool1d", nn::MaxPool1d(2), sequence),
      MODULE("MaxPool2d", nn::MaxPool2d(2), image),
      MODULE("MaxPool3d", nn::MaxPool3d(2), volume),
      MODULE("AvgPool1d", nn::AvgPool1d(2), sequence),
      MODULE("AvgPool2d", nn::AvgPool2d(2), image),
      MODULE("AvgPool3d", nn::AvgPool3d(2), volume),
      MODULE("AdaptiveMaxPool1d", nn::AdaptiveMaxPool1d(2), sequence),
      MODULE("AdaptiveMaxPool2d", nn::AdaptiveMaxPool2d(2), image),
      MODULE("AdaptiveMaxPool3d", nn::AdaptiveMaxPool3d(2), volume),
      MODULE("AdaptiveAvgPool1d", nn::AdaptiveAvgPool1d(2), sequence),
      MODULE("AdaptiveAvgPool2d", nn::AdaptiveAvgPool2d(2), image),
      MODULE("AdaptiveAvgPool3d", nn::AdaptiveAvgPool3d(2), volume),
      MODULE("MaxUnpool2d", nn::MaxUnpool2d(2), floats({2, 3, 4, 4}), indices({2, 3, 4, 4})),
      MODULE("LPPool1d", nn::LPPool1d(2, 2), sequence),
      MODULE("LPPool2d", nn::LPPool2d(2, 2), image),
      MODULE("ReflectionPad1d", nn::ReflectionPad1d(2), sequence),
      MODULE("ReflectionPad2d", nn::ReflectionPad2d(2), image),
      MODULE("ReflectionPad3d", nn::ReflectionPad3d(1), volume),
      MODULE("ReplicationPad1d", nn::ReplicationPad1d(2), sequence),
      MODULE("ReplicationPad2d", nn::ReplicationPad2d(2), image),
      MODULE("ReplicationPad3d", nn::ReplicationPad3d(1), volume),
      MODULE("ZeroPad2d", nn::ZeroPad2d(1), image),
      MODULE("ConstantPad1d", nn::ConstantPad1d(1, 2.), sequence),
      MODULE("ConstantPad2d", nn::ConstantPad2d(1, 2.), image),
      MODULE("ConstantPad3d", nn::ConstantPad3d(1, 2.), volume),
      MODULE("PixelShuffle", nn::PixelShuffle(2), floats({1, 8, 2, 2})),
      MODULE("PixelUnshuffle", nn::PixelUnshuffle(2), image),
      MODULE("Fold", nn::Fold(nn::FoldOptions({4, 4}, {2, 2})), floats({1, 12, 9})),
      MODULE("Unfold", nn::Unfold(nn::UnfoldOptions({2, 2})), image),
      MODULE("UpsampleNearest",
             nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2})), image),
      MODULE("UpsampleBilinear", upsample({2, 2}, torch::kBilinear), image),
      MODULE("UpsampleBicubic",
             nn::Upsample(nn::UpsampleOptions()
                              .size(std::vector<int64_t>{5, 7})
                              .mode(torch::kBicubic)
                              .align_corners(true)),
             image),
      MODULE("UpsampleLinear", upsample({2}, torch::kLinear), sequence),
      MODULE("UpsampleTrilinear", upsample({2, 2, 2}, torch::kTrilinear), volume),
      MODULE("CosineSimilarity", nn::CosineSimilarity(), row, floats({2, 6})),
      MODULE("PairwiseDistance", nn::PairwiseDistance(), row, floats({2, 6})),
      MODULE("RNN", nn::RNN(8, 5), sequence),
      MODULE("RNNRelu", nn::RNN(nn::RNNOptions(8, 5).nonlinearity(torch::kReLU)), sequence),
      MODULE("LSTM", nn::LSTM(8, 5), sequence),
      MODULE("LSTMBidirectional",
             nn::LSTM(nn::LSTMOptions(8, 5).bidirectional(true).num_layers(2).batch_first(true)),
             sequence),
      MODULE("LSTMProjection", nn::LSTM(nn::LSTMOptions(8, 5).proj_size(3)), sequence),
      MODULE("GRU", nn::GRU(8, 5), sequence),
      MODULE("RNNCell", nn::RNNCell(6, 5), row),
      MODULE("LSTMCell", nn::LSTMCell(6, 5), row),
      MODULE("GRUCell", nn::GRUCell(6, 5), row),
      MODULE("TransformerGelu",
             nn::TransformerEncoderLayer(
                 nn::TransformerEncoderLayerOptions(8, 2).activation(torch::kGELU)),
             sequence),
      MODULE("TransformerDecoder",
             nn::TransformerDecoder(nn::TransformerDecoderOptions(
                 nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(16), 2)),
             sequence, floats({5, 6, 8})),
      MODULE("Transformer",
             nn::Transformer(nn::TransformerOptions(8, 2)
                                 .num_encoder_layers(1)
                                 .num_decoder_layers(1)
                                 .dim_feedforward(16)),
             floats({5, 6, 8}), sequence),
      MODULE("ELU", nn::ELU(), row),
      MODULE("SELU", nn::SELU(), row),
      MODULE("CELU", nn::CELU(), row),
      MODULE("GELU", nn::GELU(), row),
      MODULE("GELUTanh", nn::GELU(nn::GELUOptions().approximate("tanh")), row),
      MODULE("GLU", nn::GLU(), row),
      MODULE("Hardshrink", nn::Hardshrink(), row),
      MODULE("Hardtanh", nn::Hardtanh(), row),
      MODULE("HardtanhInPlace",
             nn::Sequential(nn::Linear(6, 4), nn::Hardtanh(nn::HardtanhOptions().inplace(true))),
             row),
      MODULE("LeakyReLU", nn::LeakyReLU(), row),
      MODULE("LogSigmoid", nn::LogSigmoid(), row),
      MODULE("LogSoftmax", nn::LogSoftmax(1), row),
      MODULE("Mish", nn::Mish(), row),
      MODULE("PReLU", nn::PReLU(), row),
      MODULE("ReLU6", nn::ReLU6(), row),
      MODULE("RReLU", nn::RReLU(), row),
      MODULE("Sigmoid", nn::Sigmoid(), row),
      MODULE("SiLU", nn::SiLU(), row),
      MODULE("Softmax", nn::Softmax(1), row),
      MODULE("Softmax2d", nn::Softmax2d(), image),
      MODULE("Softmin", nn::Softmin(1), row),
      MODULE("Softplus", nn::Softplus(), row),
      MODULE("Softshrink", nn::Softshrink(), row),
      MODULE("Softsign", nn::Softsign(), row),
      MODULE("Tanh", nn::Tanh(), row),
      MODULE("Tanhshrink", nn::Tanhshrink(), row),
      MODULE("Threshold", nn::Threshold(0.1, 0), row),
      MODULE("MSELoss", nn::MSELoss(), row, floats({2, 6})),
      MODULE("L1Loss", nn::L1Loss(), row, floats({2, 6})),
      MODULE("SmoothL1Loss", nn::SmoothL1Loss(), row, floats({2, 6})),
      MODULE("HuberLoss", nn::HuberLoss(), row, floats({2, 6})),
      MODULE("BCELoss", nn::BCELoss(), row, floats({2, 6})),
      MODULE("BCEWithLogitsLoss", nn::BCEWithLogitsLoss(), row, floats({2, 6})),
      MODULE("KLDivLoss", nn::KLDivLoss(), row, floats({2, 6})),
      MODULE("NLLLoss", nn::NLLLoss(), row, indices({2})),
      MODULE("CrossEntropyLoss", nn::CrossEntropyLoss(), row, indices({2})),
      MODULE("HingeEmbeddingLoss", nn::HingeEmbeddingLoss(), row, floats({2, 6})),
      MODULE("MultiMarginLoss", nn::MultiMarginLoss(), row, indices({2})),
      MODULE("SoftMarginLoss", nn::SoftMarginLoss(), row, floats({2, 6})),
      MODULE("MarginRankingLoss", nn::MarginRankingLoss(), row, floats({2, 6}), floats({2, 6})),
      MODULE("TripletMarginLoss", nn::TripletMarginLoss(), row, floats({2, 6}), floats({2, 6})),
      MODULE("PoissonNLLLoss", nn::PoissonNLLLoss(), row, floats({2, 6})),
  };
}

class NnModules : public testing::TestWithParam<ModuleCase> {};

IR extract_on_meta(const ModuleCase& module) {
  const MetaDeviceGuard guard;
  std::vector<Tensor> inputs;
  for (const Tensor& input : module.inputs) inputs.push_back(input.to(at::kMeta));
  return extract_ir(module.make(), inputs, {.strict = true});
}

TEST_P(NnModules, ExtractOnMetaAsOnRealTensors) {
  const IR on_real = extract_ir(GetParam().make(), GetParam().inputs);
  EXPECT_FALSE(on_real.nodes.empty());
  std::string on_meta = serialize_ir(extract_on_meta(GetParam()));
  // Recurrent layers begin with zeros on the device of their inputs.
  c10::ReplaceAll(on_meta, R"("device": "meta")", R"("device": "cpu")");
  EXPECT_EQ(on_meta, serialize_ir(on_real));
}

TEST_P(NnModules, ComputeTheSameAsGraphs) {
  at::manual_seed(0);
  const Model model = GetParam().make();
  const auto [is_valid, report] = verify_ir_with_state_dict(
      extract_on_meta(GetParam()), state_dict(*model.module()), model.forward(), GetParam().inputs);
  EXPECT_TRUE(is_valid) << report.error_message;
  // Modules that call `matmul` and `+=` where the graph has one `linear` may differ in the last
  // bits.
  EXPECT_LE(report.max_diff, 1e-6);
}

std::string module_name(const testing::TestParamInfo<ModuleCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(All, NnModules, testing::ValuesIn(modules()), module_name);

}  // namespace
}  // namespace torch_ir
