#include "models/blocks/transformer_layer.h"

#include <torch/nn.h>

namespace torch_ir {

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const AttentionShape& shape)
    : heads_(shape.heads),
      q_proj_(register_module("q_proj", Projection(shape.width, shape.width, shape.has_bias))),
      k_proj_(register_module("k_proj", Projection(shape.context_width.value_or(shape.width),
                                                   shape.width, shape.has_bias))),
      v_proj_(register_module("v_proj", Projection(shape.context_width.value_or(shape.width),
                                                   shape.width, shape.has_bias))),
      out_proj_(register_module("out_proj", Projection(shape.width, shape.width))) {
  if (!shape.normalizes_queries) return;
  q_norm_ = register_module("q_norm", layer_norm(shape.width / shape.heads));
  k_norm_ = register_module("k_norm", layer_norm(shape.width / shape.heads));
}

at::Tensor MultiHeadAttentionImpl::forward(const at::Tensor& query, const at::Tensor& context,
                                           const std::optional<at::Tensor>& mask, bool is_causal) {
  at::Tensor q = split_heads(q_proj_(query), heads_);
  at::Tensor k = split_heads(k_proj_(context), heads_);
  if (!q_norm_.is_empty()) {
    q = q_norm_(q);
    k = k_norm_(k);
  }
  const at::Tensor v = split_heads(v_proj_(context), heads_);
  return out_proj_(
      merge_heads(at::scaled_dot_product_attention(q, k, v, mask, /*dropout_p=*/0, is_causal)));
}

TransformerLayerImpl::TransformerLayerImpl(const TransformerShape& shape)
    : shape_(shape),
      norm1_(register_module("norm1", layer_norm(shape.width))),
      attention_(register_module("attention", MultiHeadAttention(AttentionShape{
                                                  .width = shape.width,
                                                  .heads = shape.heads,
                                                  .has_bias = !shape.is_parallel,
                                                  .normalizes_queries = shape.is_parallel}))),
      up_(register_module("up", Projection(shape.width, shape.hidden.value_or(4 * shape.width)))),
      down_(register_module("down",
                            Projection(shape.hidden.value_or(4 * shape.width), shape.width))) {
  if (!shape.is_parallel) norm2_ = register_module("norm2", layer_norm(shape.width));
}

at::Tensor TransformerLayerImpl::forward(const at::Tensor& x) {
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

at::Tensor TransformerLayerImpl::attend(const at::Tensor& x) {
  return attention_(x, x, std::nullopt, shape_.is_causal);
}

at::Tensor TransformerLayerImpl::transform(const at::Tensor& x) { return down_(at::gelu(up_(x))); }

TransformerStackImpl::TransformerStackImpl(int64_t num_layers, const TransformerShape& shape) {
  for (int64_t i = 0; i < num_layers; ++i) layers_->push_back(TransformerLayer(shape));
}

at::Tensor TransformerStackImpl::forward(at::Tensor x) {
  for (const auto& layer : *layers_) x = layer->as<TransformerLayer>()->forward(x);
  return x;
}

}  // namespace torch_ir
