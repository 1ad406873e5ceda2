// TransformerLayer: self-attention and two linear layers, for language, image and audio models.
#pragma once

#include <torch/nn.h>

#include <optional>

#include "models/blocks/layers.h"

namespace torch_ir {

struct AttentionShape {
  int64_t width;
  int64_t heads;
  // The width of the keys' source, if it is not the query.
  std::optional<int64_t> context_width = std::nullopt;
  bool has_bias = true;
  bool normalizes_queries = false;
};

// Uses scaled_dot_product_attention, as current transformers do.
class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  explicit MultiHeadAttentionImpl(const AttentionShape& shape);

  // Maps `query` (batch x length x width) to as many values from `context`. A float mask is added
  // to the scores, a bool mask selects them.
  at::Tensor forward(const at::Tensor& query, const at::Tensor& context,
                     const std::optional<at::Tensor>& mask = std::nullopt, bool is_causal = false);

 private:
  int64_t heads_;
  Projection q_proj_;
  Projection k_proj_;
  Projection v_proj_;
  Projection out_proj_;
  torch::nn::LayerNorm q_norm_ = nullptr;
  torch::nn::LayerNorm k_norm_ = nullptr;
};
TORCH_MODULE(MultiHeadAttention);

struct TransformerShape {
  int64_t width;
  int64_t heads;
  // Between the linear layers; by default four times the width.
  std::optional<int64_t> hidden = std::nullopt;
  // Normalizes sums, as in BERT, instead of the input of each part.
  bool normalizes_sums = false;
  // Gives both parts the same input, as in ViT-22B, which normalizes queries and keys.
  bool is_parallel = false;
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
