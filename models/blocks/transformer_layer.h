// TransformerLayer: self-attention and two linear layers, for language, image and audio models.
#pragma once

#include <torch/nn.h>

#include "models/blocks/layers.h"

namespace torch_ir {

struct AttentionShape {
  int64_t width;
  int64_t heads;
  // The width of the keys' source.
  int64_t context_width = width;
  bool has_bias = true;
  bool normalizes_queries = false;
};

// Uses scaled_dot_product_attention, as current transformers do.
class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  explicit MultiHeadAttentionImpl(const AttentionShape& shape) : shape_(shape) {
    if (!shape.normalizes_queries) return;
    q_norm_ = register_module("q_norm", layer_norm(shape.width / shape.heads));
    k_norm_ = register_module("k_norm", layer_norm(shape.width / shape.heads));
  }

  // Maps `query` (batch x length x width) to as many values from `context`.
  at::Tensor forward(const at::Tensor& query, const at::Tensor& context, bool is_causal = false) {
    at::Tensor q = split_heads(q_proj_(query), shape_.heads);
    at::Tensor k = split_heads(k_proj_(context), shape_.heads);
    if (!q_norm_.is_empty()) {
      q = q_norm_(q);
      k = k_norm_(k);
    }
    const at::Tensor v = split_heads(v_proj_(context), shape_.heads);
    return out_proj_(merge_heads(at::scaled_dot_product_attention(
        q, k, v, /*attn_mask=*/std::nullopt, /*dropout_p=*/0, is_causal)));
  }

 private:
  Projection projection(int64_t in_features) const {
    return Projection(in_features, shape_.width, shape_.has_bias);
  }

  const AttentionShape shape_;
  Projection q_proj_ = register_module("q_proj", projection(shape_.width));
  Projection k_proj_ = register_module("k_proj", projection(shape_.context_width));
  Projection v_proj_ = register_module("v_proj", projection(shape_.context_width));
  Projection out_proj_ = register_module("out_proj", Projection(shape_.width, shape_.width));
  torch::nn::LayerNorm q_norm_ = nullptr;
  torch::nn::LayerNorm k_norm_ = nullptr;
};
TORCH_MODULE(MultiHeadAttention);

struct TransformerShape {
  int64_t width;
  int64_t heads;
  // Between the linear layers.
  int64_t hidden = 4 * width;
  // Normalizes sums, as in BERT, instead of the input of each part.
  bool normalizes_sums = false;
  // Gives both parts the same input, as in ViT-22B, which normalizes queries and keys.
  bool is_parallel = false;
  bool is_causal = false;
};

class TransformerLayerImpl : public torch::nn::Module {
 public:
  explicit TransformerLayerImpl(const TransformerShape& shape) : shape_(shape) {
    if (!shape.is_parallel) norm2_ = register_module("norm2", layer_norm(shape.width));
  }

  at::Tensor forward(const at::Tensor& x) {
    const auto attend = [&](const at::Tensor& y) { return attention_(y, y, shape_.is_causal); };
    const auto transform = [&](const at::Tensor& y) { return down_(at::gelu(up_(y))); };
    if (shape_.is_parallel) {
      const at::Tensor normed = norm1_(x);
      return x + attend(normed) + transform(normed);
    }
    if (shape_.normalizes_sums) {
      const at::Tensor attended = norm1_(x + attend(x));
      return norm2_(attended + transform(attended));
    }
    const at::Tensor attended = x + attend(norm1_(x));
    return attended + transform(norm2_(attended));
  }

 private:
  const TransformerShape shape_;
  torch::nn::LayerNorm norm1_ = register_module("norm1", layer_norm(shape_.width));
  MultiHeadAttention attention_ = register_module(
      "attention", MultiHeadAttention(AttentionShape{.width = shape_.width,
                                                     .heads = shape_.heads,
                                                     .has_bias = !shape_.is_parallel,
                                                     .normalizes_queries = shape_.is_parallel}));
  torch::nn::LayerNorm norm2_ = nullptr;
  Projection up_ = register_module("up", Projection(shape_.width, shape_.hidden));
  Projection down_ = register_module("down", Projection(shape_.hidden, shape_.width));
};
TORCH_MODULE(TransformerLayer);

class TransformerStackImpl : public torch::nn::Module {
 public:
  TransformerStackImpl(int64_t num_layers, const TransformerShape& shape) {
    for (int64_t i = 0; i < num_layers; ++i) layers_->push_back(TransformerLayer(shape));
  }

  at::Tensor forward(at::Tensor x) {
    for (const auto& layer : *layers_) x = layer->as<TransformerLayer>()->forward(x);
    return x;
  }

 private:
  torch::nn::ModuleList layers_ = register_module("layers", torch::nn::ModuleList());
};
TORCH_MODULE(TransformerStack);

}  // namespace torch_ir
