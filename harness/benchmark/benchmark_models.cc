// Models of the size that people run, which benchmarks time beside those of //models: ResNet18 (an
// image of 224x224) and GPT (4 layers of width 256, 64 tokens). Whoever links this room has them in
// the registry; they are in no report.

#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/pooling.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

nn::Conv2d convolution(int64_t in_channels, int64_t out_channels, int64_t size, int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(in_channels, out_channels, size)
                        .stride(stride)
                        .padding(size / 2)
                        .bias(false));
}

class BasicBlockImpl : public nn::Module {
 public:
  BasicBlockImpl(int64_t in_channels, int64_t channels, int64_t stride)
      : conv1_(register_module("conv1", convolution(in_channels, channels, 3, stride))),
        bn1_(register_module("bn1", nn::BatchNorm2d(channels))),
        conv2_(register_module("conv2", convolution(channels, channels, 3, 1))),
        bn2_(register_module("bn2", nn::BatchNorm2d(channels))) {
    if (stride == 1) return;
    downsample_ = register_module(
        "downsample",
        nn::Sequential(convolution(in_channels, channels, 1, stride), nn::BatchNorm2d(channels)));
  }

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = bn2_(conv2_(at::relu(bn1_(conv1_(x)))));
    return at::relu(y + (downsample_.is_empty() ? x : downsample_->forward(x)));
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
  nn::Sequential downsample_ = nullptr;
};
TORCH_MODULE(BasicBlock);

nn::Sequential two_blocks(int64_t in_channels, int64_t channels, int64_t stride) {
  return nn::Sequential(BasicBlock(in_channels, channels, stride),
                        BasicBlock(channels, channels, 1));
}

class ResNet18Impl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor stem = maxpool_(at::relu(bn1_(conv1_(x))));
    const at::Tensor middle = layer2_->forward(layer1_->forward(stem));
    const at::Tensor features = layer4_->forward(layer3_->forward(middle));
    return fc_(avgpool_(features).flatten(1));
  }

 private:
  nn::Conv2d conv1_ = register_module("conv1", convolution(3, 64, 7, 2));
  nn::BatchNorm2d bn1_ = register_module("bn1", nn::BatchNorm2d(64));
  nn::MaxPool2d maxpool_ =
      register_module("maxpool", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  nn::Sequential layer1_ = register_module("layer1", two_blocks(64, 64, 1));
  nn::Sequential layer2_ = register_module("layer2", two_blocks(64, 128, 2));
  nn::Sequential layer3_ = register_module("layer3", two_blocks(128, 256, 2));
  nn::Sequential layer4_ = register_module("layer4", two_blocks(256, 512, 2));
  nn::AdaptiveAvgPool2d avgpool_ = register_module("avgpool", nn::AdaptiveAvgPool2d(1));
  nn::Linear fc_ = register_module("fc", nn::Linear(512, 1000));
};
TORCH_MODULE(ResNet18);

struct TransformerShape {
  int64_t width;
  int64_t heads;
};

class TransformerLayerImpl : public nn::Module {
 public:
  explicit TransformerLayerImpl(TransformerShape shape)
      : shape_(shape),
        norm1_(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({shape.width})))),
        qkv_(register_module("qkv", nn::Linear(shape.width, 3 * shape.width))),
        proj_(register_module("proj", nn::Linear(shape.width, shape.width))),
        norm2_(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({shape.width})))),
        up_(register_module("up", nn::Linear(shape.width, 4 * shape.width))),
        down_(register_module("down", nn::Linear(4 * shape.width, shape.width))) {}

  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask) {
    const at::Tensor y = x + attend(norm1_(x), mask);
    return y + down_(at::gelu(up_(norm2_(y))));
  }

 private:
  at::Tensor heads(const at::Tensor& x) const {
    return x.view({x.size(0), x.size(1), shape_.heads, shape_.width / shape_.heads})
        .transpose(1, 2);
  }

  at::Tensor attend(const at::Tensor& x, const at::Tensor& mask) {
    const std::vector<at::Tensor> parts = qkv_(x).split(shape_.width, -1);
    const at::Tensor q = heads(parts[0]);
    const at::Tensor k = heads(parts[1]);
    const at::Tensor v = heads(parts[2]);
    const double scale = std::sqrt(static_cast<double>(shape_.width / shape_.heads));
    const at::Tensor scores = (at::matmul(q, k.transpose(-2, -1)) / scale)
                                  .masked_fill(mask, -std::numeric_limits<double>::infinity());
    const at::Tensor found = at::matmul(scores.softmax(-1), v).transpose(1, 2).contiguous();
    return proj_(found.view({x.size(0), x.size(1), shape_.width}));
  }

  TransformerShape shape_;
  nn::LayerNorm norm1_;
  nn::Linear qkv_;
  nn::Linear proj_;
  nn::LayerNorm norm2_;
  nn::Linear up_;
  nn::Linear down_;
};
TORCH_MODULE(TransformerLayer);

// What each token must not see: those after it.
at::Tensor causal_mask(int64_t tokens) { return at::ones({tokens, tokens}, at::kBool).triu(1); }

class TransformerImpl : public nn::Module {
 public:
  TransformerImpl(int64_t num_layers, int64_t tokens, TransformerShape shape)
      : mask_(register_buffer("mask", causal_mask(tokens))) {
    for (int64_t i = 0; i < num_layers; ++i) {
      layers_.push_back(register_module("layer" + std::to_string(i), TransformerLayer(shape)));
    }
  }

  at::Tensor forward(at::Tensor x) {
    for (TransformerLayer& layer : layers_) x = layer(x, mask_);
    return x;
  }

 private:
  at::Tensor mask_;
  std::vector<TransformerLayer> layers_;
};
TORCH_MODULE(Transformer);

constexpr int64_t kVocabulary = 1000;
constexpr int64_t kTokens = 64;
constexpr TransformerShape kGptShape = {.width = 256, .heads = 4};

class GPTImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    return head_(norm_(transformer_(embedding_(x) + position_)));
  }

 private:
  nn::Embedding embedding_ =
      register_module("embedding", nn::Embedding(kVocabulary, kGptShape.width));
  at::Tensor position_ = register_parameter("position", at::zeros({kTokens, kGptShape.width}));
  Transformer transformer_ = register_module("transformer", Transformer(4, kTokens, kGptShape));
  nn::LayerNorm norm_ =
      register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kGptShape.width})));
  nn::Linear head_ =
      register_module("head", nn::Linear(nn::LinearOptions(256, kVocabulary).bias(false)));
};
TORCH_MODULE(GPT);

REGISTER_MODEL(ResNet18, {.inputs = {{.shape = {1, 3, 224, 224}}},
                          .categories = {"benchmark"},
                          .description = "Eighteen convolutions and linear layers on an image"});

REGISTER_MODEL(
    GPT, {.inputs = {{.shape = {1, kTokens}, .dtype = at::kLong, .low = 0, .high = kVocabulary}},
          .categories = {"benchmark"},
          .description = "Four pre-norm transformer layers on 64 tokens"});

}  // namespace

}  // namespace torch_ir
