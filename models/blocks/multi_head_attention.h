// MultiHeadAttention: attention by scaled_dot_product_attention, as transformers of today call it.
#pragma once

#include <torch/nn.h>

#include "models/blocks/projection.h"

namespace torch_ir {

struct AttentionShape {
  int64_t width;
  int64_t heads;
  // Of what is attended to, where that is not the query.
  std::optional<int64_t> context_width = std::nullopt;
  // Of the projections that make queries, keys and values.
  bool has_bias = true;
  // Whether the queries and keys of each head are normalized.
  bool normalizes_queries = false;
};

class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  explicit MultiHeadAttentionImpl(const AttentionShape& shape);

  // What `query` (batch x length x width) finds in `context`, as long as `query`. A mask is added
  // to the scores, or says of each whether it counts.
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

torch::nn::LayerNorm layer_norm(int64_t width);

}  // namespace torch_ir
