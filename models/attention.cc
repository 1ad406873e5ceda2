#include "models/attention.h"

#include <ATen/ops/matmul.h>

#include <cmath>

namespace torch_ir {
namespace {

// batch x length x width to batch x heads x length x head width.
at::Tensor split_heads(const at::Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

}  // namespace

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
