// The heads of attention as a dimension of their own, and back.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_ir {

// batch x length x width to batch x heads x length x head width.
inline at::Tensor split_heads(const at::Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

inline at::Tensor merge_heads(const at::Tensor& x) { return x.transpose(1, 2).flatten(2); }

}  // namespace torch_ir
