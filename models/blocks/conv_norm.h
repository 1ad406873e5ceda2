// ConvNorm: a convolution without bias and its batch norm, which image models follow by an
// activation in place.
#pragma once

#include <torch/nn.h>

namespace torch_ir {

class ConvNormImpl : public torch::nn::Module {
 public:
  explicit ConvNormImpl(torch::nn::Conv2dOptions options)
      : conv_(register_module("conv", torch::nn::Conv2d(options.bias(false)))),
        bn_(register_module("bn", torch::nn::BatchNorm2d(options.out_channels()))) {}

  // Padded such that a stride of 1 keeps height and width.
  ConvNormImpl(int64_t in_channels, int64_t out_channels, int64_t size = 1, int64_t stride = 1,
               int64_t groups = 1)
      : ConvNormImpl(torch::nn::Conv2dOptions(in_channels, out_channels, size)
                         .stride(stride)
                         .padding(size / 2)
                         .groups(groups)) {}

  at::Tensor forward(const at::Tensor& x) { return bn_(conv_(x)); }

 private:
  torch::nn::Conv2d conv_;
  torch::nn::BatchNorm2d bn_;
};
TORCH_MODULE(ConvNorm);

}  // namespace torch_ir
