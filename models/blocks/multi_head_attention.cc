#include "models/blocks/multi_head_attention.h"

#include <torch/nn.h>

#include "models/blocks/heads.h"

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

torch::nn::LayerNorm layer_norm(int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}));
}

}  // namespace torch_ir
