#include <torch/nn.h>

#include "models/blocks/projection.h"
#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class ConvNeXtBlockImpl : public nn::Module {
 public:
  explicit ConvNeXtBlockImpl(int64_t channels)
      : depthwise_(register_module(
            "depthwise",
            nn::Conv2d(nn::Conv2dOptions(channels, channels, 7).padding(3).groups(channels)))),
        norm_(register_module("norm", layer_norm(channels))),
        up_(register_module("up", Projection(channels, 4 * channels))),
        down_(register_module("down", Projection(4 * channels, channels))),
        scale_(register_parameter("scale", at::full({channels}, 1e-6))) {}

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = norm_(depthwise_(x).permute({0, 2, 3, 1}));
    return x + (scale_ * down_(at::gelu(up_(y)))).permute({0, 3, 1, 2});
  }

 private:
  nn::Conv2d depthwise_;
  nn::LayerNorm norm_;
  Projection up_;
  Projection down_;
  at::Tensor scale_;
};
TORCH_MODULE(ConvNeXtBlock);

// Norms the channels of an image, then takes each patch for one.
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
                          .description = "Wide depthwise convolutions, norms over channels last"});

}  // namespace
}  // namespace torch_ir
