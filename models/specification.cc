// The test graphs of the specification, which the Python package has too.
#include <torch/nn.h>

#include <cmath>

#include "models/blocks/layers.h"
#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class MaskedLinearImpl : public nn::Module, public LiftedConstants {
 public:
  at::Tensor forward(const at::Tensor& x) { return linear_(x) * mask_; }

 private:
  nn::Linear linear_ = register_module("linear", nn::Linear(4, 4));
  at::Tensor mask_ = register_constant("mask", torch::tensor({1.f, 0.f, 1.f, 0.f}));
};
TORCH_MODULE(MaskedLinear);

REGISTER_MODEL(MaskedLinear, {.inputs = {{.shape = {1, 4}}},
                              .categories = {"lifted_constants", "specification"},
                              .description = "Static float mask kept outside the state dict"});

class GatherWithIndexImpl : public nn::Module, public LiftedConstants {
 public:
  at::Tensor forward(const at::Tensor& x) {
    return linear_(x).index({at::indexing::Slice(), indices_});
  }

 private:
  nn::Linear linear_ = register_module("linear", nn::Linear(8, 8));
  at::Tensor indices_ = register_constant("indices", torch::tensor({0, 2, 4, 6}, torch::kLong));
};
TORCH_MODULE(GatherWithIndex);

REGISTER_MODEL(GatherWithIndex, {.inputs = {{.shape = {1, 8}}},
                                 .categories = {"lifted_constants", "specification"},
                                 .description = "Columns picked by a constant index tensor"});

class BufferVsConstantImpl : public nn::Module, public LiftedConstants {
 public:
  at::Tensor forward(const at::Tensor& x) { return linear_(x) * scale_ + offset_; }

 private:
  nn::Linear linear_ = register_module("linear", nn::Linear(4, 4));
  at::Tensor scale_ = register_buffer("scale", at::full({4}, 2.f));
  at::Tensor offset_ = register_constant("offset", torch::tensor({0.1f, 0.2f, 0.3f, 0.4f}));
};
TORCH_MODULE(BufferVsConstant);

REGISTER_MODEL(BufferVsConstant, {.inputs = {{.shape = {1, 4}}},
                                  .categories = {"lifted_constants", "specification"},
                                  .description = "A buffer and a lifted constant side by side"});

// A base class, so that `q_proj`, `k_proj`, `v_proj` and `out_proj` belong to the model.
class Attention : public nn::Module {
 protected:
  static constexpr int64_t kWidth = 64;
  static constexpr int64_t kHeads = 4;

  // Maps `query` (batch x length x kWidth) to as many projected values from `context`.
  at::Tensor attend(const at::Tensor& query, const at::Tensor& context) {
    const at::Tensor q = split_heads(q_proj_(query), kHeads);
    const at::Tensor k = split_heads(k_proj_(context), kHeads);
    const at::Tensor v = split_heads(v_proj_(context), kHeads);
    const double scale = std::sqrt(kWidth / kHeads);
    const at::Tensor weights = (at::matmul(q, k.transpose(-2, -1)) / scale).softmax(-1);
    const at::Tensor heads = at::matmul(weights, v).transpose(1, 2).contiguous();
    return out_proj_(heads.view({query.size(0), query.size(1), kWidth}));
  }

 private:
  nn::Linear q_proj_ = register_module("q_proj", nn::Linear(kWidth, kWidth));
  nn::Linear k_proj_ = register_module("k_proj", nn::Linear(kWidth, kWidth));
  nn::Linear v_proj_ = register_module("v_proj", nn::Linear(kWidth, kWidth));
  nn::Linear out_proj_ = register_module("out_proj", nn::Linear(kWidth, kWidth));
};

class SelfAttentionImpl : public Attention {
 public:
  at::Tensor forward(const at::Tensor& x) { return attend(x, x); }
};
TORCH_MODULE(SelfAttention);

REGISTER_MODEL(SelfAttention, {.inputs = {{.shape = {1, 16, 64}}},
                               .categories = {"attention", "specification"},
                               .description = "Basic self-attention"});

class CrossAttentionImpl : public Attention {
 public:
  at::Tensor forward(const at::Tensor& query, const at::Tensor& context) {
    return attend(query, context);
  }
};
TORCH_MODULE(CrossAttention);

REGISTER_MODEL(CrossAttention, {.inputs = {{.name = "query", .shape = {1, 16, 64}},
                                           {.name = "context", .shape = {1, 32, 64}}},
                                .categories = {"attention", "multi_io", "specification"},
                                .description = "Cross-attention"});

class TransformerBlockImpl : public Attention {
 public:
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor hidden = norm1_(x + attend(x, x));
    return norm2_(hidden + ffn_->forward(hidden));
  }

 private:
  nn::LayerNorm norm1_ = register_module("norm1", layer_norm(kWidth));
  nn::LayerNorm norm2_ = register_module("norm2", layer_norm(kWidth));
  nn::Sequential ffn_ = register_module(
      "ffn",
      nn::Sequential(nn::Linear(kWidth, 4 * kWidth), nn::GELU(), nn::Linear(4 * kWidth, kWidth)));
};
TORCH_MODULE(TransformerBlock);

REGISTER_MODEL(TransformerBlock, {.inputs = {{.shape = {1, 16, 64}}},
                                  .categories = {"attention", "skip_connections", "specification"},
                                  .description = "Complete transformer block"});

class DenseLayerImpl : public nn::Module {
 public:
  DenseLayerImpl(int64_t in_channels, int64_t growth)
      : bn_(register_module("bn", nn::BatchNorm2d(in_channels))),
        conv_(register_module("conv", conv3x3(in_channels, growth))) {}

  at::Tensor forward(const at::Tensor& x) { return at::cat({x, conv_(at::relu(bn_(x)))}, 1); }

 private:
  nn::BatchNorm2d bn_;
  nn::Conv2d conv_;
};
TORCH_MODULE(DenseLayer);

class DenseBlockImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor stem = at::relu(bn1_(conv1_(x)));
    const at::Tensor features = dense4_(dense3_(dense2_(dense1_(stem))));
    return fc_(pool_(transition_->forward(features)).flatten(1));
  }

 private:
  nn::Conv2d conv1_ = register_module("conv1", conv3x3(3, 32));
  nn::BatchNorm2d bn1_ = register_module("bn1", nn::BatchNorm2d(32));
  DenseLayer dense1_ = register_module("dense1", DenseLayer(32, 16));
  DenseLayer dense2_ = register_module("dense2", DenseLayer(48, 16));
  DenseLayer dense3_ = register_module("dense3", DenseLayer(64, 16));
  DenseLayer dense4_ = register_module("dense4", DenseLayer(80, 16));
  nn::Sequential transition_ = register_module(
      "transition",
      nn::Sequential(nn::BatchNorm2d(96), nn::ReLU(), conv1x1(96, 48), nn::AvgPool2d(2)));
  nn::AdaptiveAvgPool2d pool_ = register_module("pool", nn::AdaptiveAvgPool2d(1));
  nn::Linear fc_ = register_module("fc", nn::Linear(48, 10));
};
TORCH_MODULE(DenseBlock);

REGISTER_MODEL(DenseBlock, {.inputs = {{.shape = {1, 3, 32, 32}}},
                            .categories = {"skip_connections", "specification"},
                            .description = "DenseNet-style connections"});

class ResBlockImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = at::relu(bn1_(conv1_(x)));
    return at::relu(bn2_(conv2_(y)) + x);
  }

 private:
  static constexpr int64_t kChannels = 32;

  nn::Conv2d conv1_ = register_module("conv1", conv3x3(kChannels, kChannels));
  nn::BatchNorm2d bn1_ = register_module("bn1", nn::BatchNorm2d(kChannels));
  nn::Conv2d conv2_ = register_module("conv2", conv3x3(kChannels, kChannels));
  nn::BatchNorm2d bn2_ = register_module("bn2", nn::BatchNorm2d(kChannels));
};
TORCH_MODULE(ResBlock);

class DeepResNetImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor stem = at::relu(bn1_(conv1_(x)));
    const at::Tensor features = res_block3_(res_block2_(res_block1_(stem)));
    return fc_(pool_(features).flatten(1));
  }

 private:
  nn::Conv2d conv1_ = register_module("conv1", conv3x3(3, 32));
  nn::BatchNorm2d bn1_ = register_module("bn1", nn::BatchNorm2d(32));
  ResBlock res_block1_ = register_module("res_block1", ResBlock());
  ResBlock res_block2_ = register_module("res_block2", ResBlock());
  ResBlock res_block3_ = register_module("res_block3", ResBlock());
  nn::AdaptiveAvgPool2d pool_ = register_module("pool", nn::AdaptiveAvgPool2d(1));
  nn::Linear fc_ = register_module("fc", nn::Linear(32, 10));
};
TORCH_MODULE(DeepResNet);

REGISTER_MODEL(DeepResNet, {.inputs = {{.shape = {1, 3, 32, 32}}},
                            .categories = {"skip_connections", "specification"},
                            .description = "Multiple residual blocks"});

class MultiTaskHeadImpl : public nn::Module {
 public:
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x) {
    const at::Tensor features = backbone_->forward(x);
    return {classifier_->forward(features), aux_head_->forward(features)};
  }

 private:
  nn::Sequential backbone_ = register_module(
      "backbone", nn::Sequential(conv3x3(3, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
                                 conv3x3(32, 64), nn::BatchNorm2d(64), nn::ReLU(),
                                 nn::AdaptiveAvgPool2d(4), nn::Flatten()));
  nn::Sequential classifier_ = register_module(
      "classifier", nn::Sequential(nn::Linear(1024, 128), nn::ReLU(), nn::Linear(128, 10)));
  nn::Sequential aux_head_ = register_module(
      "aux_head", nn::Sequential(nn::Linear(1024, 64), nn::ReLU(), nn::Linear(64, 4)));
};
TORCH_MODULE(MultiTaskHead);

REGISTER_MODEL(MultiTaskHead, {.inputs = {{.shape = {1, 3, 32, 32}}},
                               .categories = {"multi_io", "specification"},
                               .description = "Shared backbone + multi-output heads"});

class SiameseEncoderImpl : public nn::Module {
 public:
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x1, const at::Tensor& x2) {
    return {encoder_->forward(x1), encoder_->forward(x2)};
  }

 private:
  nn::Sequential encoder_ = register_module(
      "encoder", nn::Sequential(conv3x3(3, 32), nn::ReLU(), nn::MaxPool2d(2), conv3x3(32, 64),
                                nn::ReLU(), nn::MaxPool2d(2), conv3x3(64, 128), nn::ReLU(),
                                nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(128, 128)));
};
TORCH_MODULE(SiameseEncoder);

REGISTER_MODEL(SiameseEncoder, {.inputs = {{.shape = {1, 3, 64, 64}}, {.shape = {1, 3, 64, 64}}},
                                .categories = {"multi_io", "shared_weights", "specification"},
                                .description = "Apply same encoder to two images"});

class RecurrentUnrollImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor state = x;
    for (int step = 0; step < kSteps; ++step) state = at::tanh(cell_(state));
    return state;
  }

 private:
  static constexpr int kSteps = 5;

  nn::Linear cell_ = register_module("cell", nn::Linear(32, 32));
};
TORCH_MODULE(RecurrentUnroll);

REGISTER_MODEL(RecurrentUnroll, {.inputs = {{.shape = {1, 32}}},
                                 .categories = {"shared_weights", "specification"},
                                 .description = "Repeated application of same cell"});

constexpr int64_t kTiedVocabulary = 100;

class WeightTyingImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor hidden = transform_->forward(embedding_(x));
    return nn::functional::linear(hidden, embedding_->weight, output_bias_);
  }

 private:
  static constexpr int64_t kWidth = 64;

  nn::Embedding embedding_ = register_module("embedding", nn::Embedding(kTiedVocabulary, kWidth));
  nn::Sequential transform_ = register_module(
      "transform",
      nn::Sequential(nn::Linear(kWidth, kWidth), nn::ReLU(), nn::Linear(kWidth, kWidth)));
  at::Tensor output_bias_ = register_parameter("output_bias", at::zeros(kTiedVocabulary));
};
TORCH_MODULE(WeightTying);

REGISTER_MODEL(
    WeightTying,
    {.inputs = {{.shape = {1, 16}, .dtype = at::kLong, .low = 0, .high = kTiedVocabulary}},
     .categories = {"shared_weights", "specification"},
     .description = "Embedding-output weight sharing"});

}  // namespace
}  // namespace torch_ir
