// Projection: a linear layer that is one call of aten::linear, as Python's nn.Linear is.
//
// torch::nn::Linear computes an input of more than two dimensions with matmul and add_, so that its
// last bits may differ from those of its graph.
#pragma once

#include <torch/nn.h>

namespace torch_ir {

class ProjectionImpl : public torch::nn::LinearImpl {
 public:
  ProjectionImpl(int64_t in_features, int64_t out_features, bool has_bias = true)
      : LinearImpl(torch::nn::LinearOptions(in_features, out_features).bias(has_bias)) {}

  at::Tensor forward(const at::Tensor& x) { return at::linear(x, weight, bias); }
};
TORCH_MODULE(Projection);

}  // namespace torch_ir
