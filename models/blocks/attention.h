// Attention: the multi-head attention that several models of the registry are built on.
//
// A base class, so that the projections are the model's own: `q_proj`, `k_proj`, `v_proj`,
// `out_proj`.
#pragma once

#include <torch/nn.h>

namespace torch_ir {

class Attention : public torch::nn::Module {
 protected:
  static constexpr int64_t kWidth = 64;
  static constexpr int64_t kHeads = 4;

  // What `query` (batch x length x kWidth) finds in `context`, projected; as long as `query`.
  at::Tensor attend(const at::Tensor& query, const at::Tensor& context);

 private:
  torch::nn::Linear q_proj_ = register_module("q_proj", torch::nn::Linear(kWidth, kWidth));
  torch::nn::Linear k_proj_ = register_module("k_proj", torch::nn::Linear(kWidth, kWidth));
  torch::nn::Linear v_proj_ = register_module("v_proj", torch::nn::Linear(kWidth, kWidth));
  torch::nn::Linear out_proj_ = register_module("out_proj", torch::nn::Linear(kWidth, kWidth));
};

}  // namespace torch_ir
