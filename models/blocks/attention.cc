#include "models/blocks/attention.h"

#include <torch/nn.h>

#include <cmath>

#include "models/blocks/heads.h"

namespace torch_ir {

at::Tensor Attention::attend(const at::Tensor& query, const at::Tensor& context) {
  const at::Tensor q = split_heads(q_proj_(query), kHeads);
  const at::Tensor k = split_heads(k_proj_(context), kHeads);
  const at::Tensor v = split_heads(v_proj_(context), kHeads);
  const double scale = std::sqrt(kWidth / kHeads);
  const at::Tensor weights = (at::matmul(q, k.transpose(-2, -1)) / scale).softmax(-1);
  const at::Tensor heads = at::matmul(weights, v).transpose(1, 2).contiguous();
  return out_proj_(heads.view({query.size(0), query.size(1), kWidth}));
}

}  // namespace torch_ir
