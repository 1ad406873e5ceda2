#include <torch/nn.h>

#include "models/blocks/conv_norm.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

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
  static nn::Conv2d conv1x1(int64_t in_channels, int64_t out_channels) {
    return nn::Conv2d(nn::Conv2dOptions(in_channels, out_channels, 1));
  }

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
  explicit InvertedResidualImpl(const InvertedResidualShape& shape)
      : shape_(shape),
        expand_(register_module("expand", ConvNorm(shape.in_channels, shape.hidden))),
        depthwise_(register_module("depthwise", ConvNorm(shape.hidden, shape.hidden, shape.size,
                                                         shape.stride, shape.hidden))),
        project_(register_module("project", ConvNorm(shape.hidden, shape.channels))) {
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

  InvertedResidualShape shape_;
  ConvNorm expand_;
  ConvNorm depthwise_;
  ConvNorm project_;
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
                .description = "Inverted residuals, squeeze and excitation, hardswish in place"});

}  // namespace
}  // namespace torch_ir
