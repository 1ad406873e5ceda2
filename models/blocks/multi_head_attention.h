// MultiHeadAttention: attention by scaled_dot_product_attention, as transformers of today call it.
#pragma once

#include <optional>

#include "models/blocks/projection.h"

namespace torch_ir {

struct AttentionShape {
  int64_t width;
  int64_t heads;
  // Of what is attended to, where that is not the query.
  std::optional<int64_t> context_width = std::nullopt;
  // Of the projections that make queries, keys and values.
  bool has_bias = true;
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
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace torch_ir
