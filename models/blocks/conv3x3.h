// conv3x3: the convolution that keeps height and width, used by the image models.
#pragma once

#include <torch/nn.h>

namespace torch_ir {

inline torch::nn::Conv2d conv3x3(int64_t in_channels, int64_t out_channels) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in_channels, out_channels, 3).padding(1));
}

}  // namespace torch_ir
