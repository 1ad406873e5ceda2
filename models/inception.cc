#include <torch/nn.h>

#include "models/blocks/conv_norm.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// A convolution of `height` x `width` that keeps the size of the image.
ConvNorm factor(int64_t in_channels, int64_t channels, int64_t height, int64_t width) {
  return ConvNorm(
      nn::Conv2dOptions(in_channels, channels, {height, width}).padding({height / 2, width / 2}));
}

class BranchesImpl : public nn::Module {
 public:
  explicit BranchesImpl(int64_t in_channels)
      : single_(register_module("single", ConvNorm(in_channels, 16))),
        reduce3_(register_module("reduce3", ConvNorm(in_channels, 8))),
        conv3_(register_module("conv3", ConvNorm(8, 16, 3))),
        reduce7_(register_module("reduce7", ConvNorm(in_channels, 8))),
        conv1x7_(register_module("conv1x7", factor(8, 8, 1, 7))),
        conv7x1_(register_module("conv7x1", factor(8, 16, 7, 1))),
        pooled_(register_module("pooled", ConvNorm(in_channels, 16))) {}

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor single = activate(single_(x));
    const at::Tensor three = activate(conv3_(activate(reduce3_(x))));
    const at::Tensor seven = activate(conv7x1_(activate(conv1x7_(activate(reduce7_(x))))));
    const at::Tensor pooled = activate(pooled_(at::avg_pool2d(x, {3, 3}, {1, 1}, {1, 1})));
    return at::cat({single, three, seven, pooled}, 1);
  }

 private:
  static at::Tensor activate(at::Tensor x) { return at::relu_(x); }

  ConvNorm single_;
  ConvNorm reduce3_;
  ConvNorm conv3_;
  ConvNorm reduce7_;
  ConvNorm conv1x7_;
  ConvNorm conv7x1_;
  ConvNorm pooled_;
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
                           .description = "Branches of factored convolutions, joined"});

}  // namespace
}  // namespace torch_ir
