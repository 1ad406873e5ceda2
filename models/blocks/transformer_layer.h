// TransformerLayer: self-attention and two linear layers, as language, image and audio models
// stack them.
#pragma once

#include <torch/nn.h>

#include "models/blocks/multi_head_attention.h"

namespace torch_ir {

struct TransformerShape {
  int64_t width;
  int64_t heads;
  // Between the linear layers; by default four times the width.
  std::optional<int64_t> hidden = std::nullopt;
  // Whether sums are normalized, as in BERT, in place of what goes into each part.
  bool normalizes_sums = false;
  // Whether both parts take the same input, as in ViT-22B, which normalizes queries and keys.
  bool is_parallel = false;
  // Whether each token sees those before it only.
  bool is_causal = false;
};

class TransformerLayerImpl : public torch::nn::Module {
 public:
  explicit TransformerLayerImpl(const TransformerShape& shape);

  at::Tensor forward(const at::Tensor& x);

 private:
  at::Tensor attend(const at::Tensor& x);
  at::Tensor transform(const at::Tensor& x);

  TransformerShape shape_;
  torch::nn::LayerNorm norm1_;
  MultiHeadAttention attention_;
  torch::nn::LayerNorm norm2_ = nullptr;
  Projection up_;
  Projection down_;
};
TORCH_MODULE(TransformerLayer);

class TransformerStackImpl : public torch::nn::Module {
 public:
  TransformerStackImpl(int64_t num_layers, const TransformerShape& shape);

  at::Tensor forward(at::Tensor x);

 private:
  torch::nn::ModuleList layers_ = register_module("layers", torch::nn::ModuleList());
};
TORCH_MODULE(TransformerStack);

}  // namespace torch_ir
