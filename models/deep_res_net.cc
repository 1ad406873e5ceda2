#include <torch/nn.h>

#include "models/blocks/conv3x3.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class ResBlockImpl : public nn::Module {
 public:
  explicit ResBlockImpl(int64_t channels)
      : conv1_(register_module("conv1", conv3x3(channels, channels))),
        bn1_(register_module("bn1", nn::BatchNorm2d(channels))),
        conv2_(register_module("conv2", conv3x3(channels, channels))),
        bn2_(register_module("bn2", nn::BatchNorm2d(channels))) {}

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = at::relu(bn1_(conv1_(x)));
    return at::relu(bn2_(conv2_(y)) + x);
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
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
  ResBlock res_block1_ = register_module("res_block1", ResBlock(32));
  ResBlock res_block2_ = register_module("res_block2", ResBlock(32));
  ResBlock res_block3_ = register_module("res_block3", ResBlock(32));
  nn::AdaptiveAvgPool2d pool_ = register_module("pool", nn::AdaptiveAvgPool2d(1));
  nn::Linear fc_ = register_module("fc", nn::Linear(32, 10));
};
TORCH_MODULE(DeepResNet);

REGISTER_MODEL(DeepResNet, {.inputs = {{.shape = {1, 3, 32, 32}}},
                            .categories = {"skip_connections", "specification"},
                            .description = "Multiple residual blocks"});

}  // namespace
}  // namespace torch_ir
