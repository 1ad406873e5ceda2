#include <torch/nn.h>

#include "models/blocks/conv_norm.h"
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
                .description = "ResNet of bottlenecks, activations and additions in place"});

}  // namespace
}  // namespace torch_ir
