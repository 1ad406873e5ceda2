// RmsNorm: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
#pragma once

#include <torch/nn.h>

namespace torch_ir {

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

}  // namespace torch_ir
