// Convolutional networks for images.
#include <torch/nn.h>

#include "models/blocks/layers.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class BottleneckImpl : public nn::Module {
 public:
  BottleneckImpl(int64_t in_channels, int64_t channels, int64_t stride)
      : reduce_(register_module("reduce", ConvNorm(in_channels, channels))),
        conv_(register_module("conv", ConvNorm(channels, channels, 3, stride))),
        expand_(register_module("expand", ConvNorm(channels, kExpansion * channels))) {
    if (stride == 1 && in_channels == kExpansion * channels) return;
    downsample_ =
        register_module("downsample", ConvNorm(in_channels, kExpansion * channels, 1, stride));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = reduce_(x);
    y = conv_(at::relu_(y));
    y = expand_(at::relu_(y));
    y += downsample_.is_empty() ? x : downsample_(x);
    return at::relu_(y);
  }

  static constexpr int64_t kExpansion = 4;

 private:
  ConvNorm reduce_;
  ConvNorm conv_;
  ConvNorm expand_;
  ConvNorm downsample_ = nullptr;
};
TORCH_MODULE(Bottleneck);

// He et al., Deep Residual Learning for Image Recognition, 2015.
class BottleneckResNetImpl : public nn::Module {
 public:
  BottleneckResNetImpl() {
    int64_t in_channels = kChannels;
    for (int64_t stage = 0; stage < 3; ++stage) {
      const int64_t channels = kChannels << stage;
      for (const int64_t stride : {stage == 0 ? 1 : 2, 1}) {
        blocks_->push_back(Bottleneck(in_channels, channels, stride));
        in_channels = BottleneckImpl::kExpansion * channels;
      }
    }
    fc_ = register_module("fc", nn::Linear(in_channels, 10));
  }

  at::Tensor forward(const at::Tensor& image) {
    at::Tensor x = stem_(image);
    x = maxpool_(at::relu_(x));
    for (const auto& block : *blocks_) x = block->as<Bottleneck>()->forward(x);
    return fc_(avgpool_(x).flatten(1));
  }

 private:
  static constexpr int64_t kChannels = 8;

  ConvNorm stem_ = register_module("stem", ConvNorm(3, kChannels, 7, 2));
  nn::MaxPool2d maxpool_ =
      register_module("maxpool", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  nn::ModuleList blocks_ = register_module("blocks", nn::ModuleList());
  nn::AdaptiveAvgPool2d avgpool_ = register_module("avgpool", nn::AdaptiveAvgPool2d(1));
  nn::Linear fc_ = nullptr;
};
TORCH_MODULE(BottleneckResNet);

REGISTER_MODEL(BottleneckResNet,
               {.inputs = {{.shape = {1, 3, 64, 64}}},
                .categories = {"vision", "skip_connections"},
                .description = "ResNet with bottlenecks and in-place activations and additions"});

// Hu et al., Squeeze-and-Excitation Networks, 2017.
class SqueezeExcitationImpl : public nn::Module {
 public:
  explicit SqueezeExcitationImpl(int64_t channels)
      : squeeze_(register_module("squeeze", conv1x1(channels, channels / 4))),
        expand_(register_module("expand", conv1x1(channels / 4, channels))) {}

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor scale = squeeze_(pool_(x));
    scale = expand_(at::relu_(scale));
    return at::hardsigmoid_(scale) * x;
  }

 private:
  nn::AdaptiveAvgPool2d pool_ = register_module("pool", nn::AdaptiveAvgPool2d(1));
  nn::Conv2d squeeze_;
  nn::Conv2d expand_;
};
TORCH_MODULE(SqueezeExcitation);

struct InvertedResidualShape {
  int64_t in_channels;
  int64_t hidden;
  int64_t channels;
  int64_t size;
  int64_t stride;
  bool squeezes;
  bool has_hardswish;
};

class InvertedResidualImpl : public nn::Module {
 public:
  explicit InvertedResidualImpl(const InvertedResidualShape& shape) : shape_(shape) {
    if (shape.squeezes) squeeze_ = register_module("squeeze", SqueezeExcitation(shape.hidden));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = depthwise_(activate(expand_(x)));
    y = activate(y);
    if (!squeeze_.is_empty()) y = squeeze_(y);
    y = project_(y);
    if (shape_.stride == 1 && shape_.in_channels == shape_.channels) y += x;
    return y;
  }

 private:
  at::Tensor activate(at::Tensor x) const {
    return shape_.has_hardswish ? at::hardswish_(x) : at::relu_(x);
  }

  const InvertedResidualShape shape_;
  ConvNorm expand_ = register_module("expand", ConvNorm(shape_.in_channels, shape_.hidden));
  ConvNorm depthwise_ = register_module(
      "depthwise",
      ConvNorm(shape_.hidden, shape_.hidden, shape_.size, shape_.stride, shape_.hidden));
  ConvNorm project_ = register_module("project", ConvNorm(shape_.hidden, shape_.channels));
  SqueezeExcitation squeeze_ = nullptr;
};
TORCH_MODULE(InvertedResidual);

constexpr InvertedResidualShape kMobileNetBlocks[] = {{8, 16, 8, 3, 1, false, false},
                                                      {8, 24, 16, 3, 2, true, false},
                                                      {16, 48, 16, 5, 1, true, true},
                                                      {16, 64, 24, 5, 2, true, true}};

// Howard et al., Searching for MobileNetV3, 2019.
class MobileNetV3Impl : public nn::Module {
 public:
  MobileNetV3Impl() {
    for (const InvertedResidualShape& shape : kMobileNetBlocks) {
      blocks_->push_back(InvertedResidual(shape));
    }
  }

  at::Tensor forward(const at::Tensor& image) {
    at::Tensor x = stem_(image);
    x = at::hardswish_(x);
    for (const auto& block : *blocks_) x = block->as<InvertedResidual>()->forward(x);
    x = last_(x);
    x = hidden_(pool_(at::hardswish_(x)).flatten(1));
    return fc_(at::hardswish_(x));
  }

 private:
  ConvNorm stem_ = register_module("stem", ConvNorm(3, 8, 3, 2));
  nn::ModuleList blocks_ = register_module("blocks", nn::ModuleList());
  ConvNorm last_ = register_module("last", ConvNorm(24, 64));
  nn::AdaptiveAvgPool2d pool_ = register_module("pool", nn::AdaptiveAvgPool2d(1));
  nn::Linear hidden_ = register_module("hidden", nn::Linear(64, 96));
  nn::Linear fc_ = register_module("fc", nn::Linear(96, 10));
};
TORCH_MODULE(MobileNetV3);

REGISTER_MODEL(MobileNetV3,
               {.inputs = {{.shape = {1, 3, 48, 48}}},
                .categories = {"vision", "skip_connections"},
                .description = "Inverted residuals, squeeze-and-excitation, in-place hardswish"});

ConvNorm factor(int64_t in_channels, int64_t channels, int64_t height, int64_t width) {
  return ConvNorm(
      nn::Conv2dOptions(in_channels, channels, {height, width}).padding({height / 2, width / 2}));
}

class BranchesImpl : public nn::Module {
 public:
  explicit BranchesImpl(int64_t in_channels) : in_channels_(in_channels) {}

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor single = activate(single_(x));
    const at::Tensor three = activate(conv3_(activate(reduce3_(x))));
    const at::Tensor seven = activate(conv7x1_(activate(conv1x7_(activate(reduce7_(x))))));
    const at::Tensor pooled = activate(pooled_(at::avg_pool2d(x, {3, 3}, {1, 1}, {1, 1})));
    return at::cat({single, three, seven, pooled}, 1);
  }

 private:
  static at::Tensor activate(at::Tensor x) { return at::relu_(x); }

  const int64_t in_channels_;
  ConvNorm single_ = register_module("single", ConvNorm(in_channels_, 16));
  ConvNorm reduce3_ = register_module("reduce3", ConvNorm(in_channels_, 8));
  ConvNorm conv3_ = register_module("conv3", ConvNorm(8, 16, 3));
  ConvNorm reduce7_ = register_module("reduce7", ConvNorm(in_channels_, 8));
  ConvNorm conv1x7_ = register_module("conv1x7", factor(8, 8, 1, 7));
  ConvNorm conv7x1_ = register_module("conv7x1", factor(8, 16, 7, 1));
  ConvNorm pooled_ = register_module("pooled", ConvNorm(in_channels_, 16));
};
TORCH_MODULE(Branches);

// Szegedy et al., Rethinking the Inception Architecture for Computer Vision, 2015.
class InceptionImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& image) {
    at::Tensor x = stem_(image);
    x = branches1_(at::max_pool2d(at::relu_(x), {3, 3}, {2, 2}));
    x = branches2_(at::max_pool2d(x, {3, 3}, {2, 2}, {0, 0}, {1, 1}, /*ceil_mode=*/true));
    return fc_(x.mean({2, 3}));
  }

 private:
  ConvNorm stem_ = register_module("stem", ConvNorm(3, 16, 3));
  Branches branches1_ = register_module("branches1", Branches(16));
  Branches branches2_ = register_module("branches2", Branches(64));
  nn::Linear fc_ = register_module("fc", nn::Linear(64, 10));
};
TORCH_MODULE(Inception);

REGISTER_MODEL(Inception, {.inputs = {{.shape = {1, 3, 32, 32}}},
                           .categories = {"vision"},
                           .description = "Branches of factorized convolutions, concatenated"});

class ConvNeXtBlockImpl : public nn::Module {
 public:
  explicit ConvNeXtBlockImpl(int64_t channels) : channels_(channels) {}

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = norm_(depthwise_(x).permute({0, 2, 3, 1}));
    return x + (scale_ * down_(at::gelu(up_(y)))).permute({0, 3, 1, 2});
  }

 private:
  const int64_t channels_;
  nn::Conv2d depthwise_ = register_module(
      "depthwise",
      nn::Conv2d(nn::Conv2dOptions(channels_, channels_, 7).padding(3).groups(channels_)));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(channels_));
  Projection up_ = register_module("up", Projection(channels_, 4 * channels_));
  Projection down_ = register_module("down", Projection(4 * channels_, channels_));
  at::Tensor scale_ = register_parameter("scale", at::full({channels_}, 1e-6));
};
TORCH_MODULE(ConvNeXtBlock);

// Normalizes the channels of an image, then merges each patch into one pixel.
class PatchConvImpl : public nn::Module {
 public:
  PatchConvImpl(int64_t in_channels, int64_t channels)
      : norm_(register_module("norm", layer_norm(in_channels))),
        conv_(register_module("conv",
                              nn::Conv2d(nn::Conv2dOptions(in_channels, channels, 2).stride(2)))) {}

  at::Tensor forward(const at::Tensor& x) {
    return conv_(norm_(x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2}));
  }

 private:
  nn::LayerNorm norm_;
  nn::Conv2d conv_;
};
TORCH_MODULE(PatchConv);

// Liu et al., A ConvNet for the 2020s, 2022.
class ConvNeXtImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& image) {
    const at::Tensor x = block2_(block1_(stem_(image)));
    const at::Tensor y = block4_(block3_(downsample_(x)));
    return fc_(norm_(y.mean({-2, -1})));
  }

 private:
  nn::Conv2d stem_ = register_module("stem", nn::Conv2d(nn::Conv2dOptions(3, 16, 4).stride(4)));
  ConvNeXtBlock block1_ = register_module("block1", ConvNeXtBlock(16));
  ConvNeXtBlock block2_ = register_module("block2", ConvNeXtBlock(16));
  PatchConv downsample_ = register_module("downsample", PatchConv(16, 32));
  ConvNeXtBlock block3_ = register_module("block3", ConvNeXtBlock(32));
  ConvNeXtBlock block4_ = register_module("block4", ConvNeXtBlock(32));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(32));
  Projection fc_ = register_module("fc", Projection(32, 10));
};
TORCH_MODULE(ConvNeXt);

REGISTER_MODEL(ConvNeXt, {.inputs = {{.shape = {1, 3, 64, 64}}},
                          .categories = {"vision", "skip_connections"},
                          .description = "Wide depthwise convolutions, channels-last layer norms"});

}  // namespace
}  // namespace torch_ir
