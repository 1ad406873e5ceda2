// Layers that models share.
#pragma once

#include <torch/nn.h>

#include <string>
#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch_ir {

// Whole numbers below `count`, such as tokens.
inline ModelInput indices(const std::string& name, const std::vector<int64_t>& shape,
                          int64_t count) {
  return {name, shape, at::kLong, /*low=*/0, /*high=*/static_cast<double>(count)};
}

// A linear layer that calls aten::linear once, as Python's nn.Linear does. For inputs of more than
// two dimensions torch::nn::Linear calls matmul and add_, so its last bits may differ from its
// graph's.
class ProjectionImpl : public torch::nn::LinearImpl {
 public:
  ProjectionImpl(int64_t in_features, int64_t out_features, bool has_bias = true)
      : LinearImpl(torch::nn::LinearOptions(in_features, out_features).bias(has_bias)) {}

  at::Tensor forward(const at::Tensor& x) { return at::linear(x, weight, bias); }
};
TORCH_MODULE(Projection);

inline Projection unbiased(int64_t in_features, int64_t out_features) {
  return Projection(in_features, out_features, /*has_bias=*/false);
}

// Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
class RmsNormImpl : public torch::nn::Module {
 public:
  explicit RmsNormImpl(int64_t width) : weight_(register_parameter("weight", at::ones({width}))) {}

  at::Tensor forward(const at::Tensor& x) {
    return weight_ * (x * at::rsqrt(x.square().mean(-1, /*keepdim=*/true) + 1e-5));
  }

 private:
  at::Tensor weight_;
};
TORCH_MODULE(RmsNorm);

inline torch::nn::LayerNorm layer_norm(int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}));
}

// batch x length x width to batch x heads x length x head width, and back.
inline at::Tensor split_heads(const at::Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

inline at::Tensor merge_heads(const at::Tensor& x) { return x.transpose(1, 2).flatten(2); }

inline torch::nn::Conv2d conv1x1(int64_t in_channels, int64_t out_channels) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in_channels, out_channels, 1));
}

inline torch::nn::Conv2d conv3x3(int64_t in_channels, int64_t out_channels) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in_channels, out_channels, 3).padding(1));
}

class ConvNormImpl : public torch::nn::Module {
 public:
  explicit ConvNormImpl(torch::nn::Conv2dOptions options)
      : conv_(register_module("conv", torch::nn::Conv2d(options.bias(false)))),
        bn_(register_module("bn", torch::nn::BatchNorm2d(options.out_channels()))) {}

  // Padded so that a stride of 1 keeps height and width.
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
