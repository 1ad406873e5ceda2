#include <torch/nn.h>

#include "models/blocks/conv3x3.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

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
      "transition", nn::Sequential(nn::BatchNorm2d(96), nn::ReLU(),
                                   nn::Conv2d(nn::Conv2dOptions(96, 48, 1)), nn::AvgPool2d(2)));
  nn::AdaptiveAvgPool2d pool_ = register_module("pool", nn::AdaptiveAvgPool2d(1));
  nn::Linear fc_ = register_module("fc", nn::Linear(48, 10));
};
TORCH_MODULE(DenseBlock);

REGISTER_MODEL(DenseBlock, {.inputs = {{.shape = {1, 3, 32, 32}}},
                            .categories = {"skip_connections", "specification"},
                            .description = "DenseNet-style connections"});

}  // namespace
}  // namespace torch_ir
