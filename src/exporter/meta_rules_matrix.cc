// Products of matrices, factorizations, attention.
#include <ATen/ExpandUtils.h>

#include "torch_ir/exporter/meta_rules.h"

namespace torch_ir {
namespace {

// Computed as [batch, length, heads, width] and returned transposed.
std::vector<at::Tensor> flash_attention(const MetaCall& call) {
  const at::Tensor query = call.tensor("query");
  const int64_t batch = query.size(0);
  const int64_t heads = query.size(1);
  const int64_t length = query.size(2);
  const int64_t width = call.tensor("value").size(3);
  const bool is_low_precision = query.scalar_type() == c10::ScalarType::Half ||
                                query.scalar_type() == c10::ScalarType::BFloat16;
  const auto statistics =
      is_low_precision ? c10::ScalarType::Float : query.scalar_type();
  return {meta_tensor({batch, length, heads, width}, query.scalar_type()).transpose(1, 2),
          meta_tensor({batch, length, heads}, statistics).transpose(1, 2)};
}

std::vector<at::Tensor> addbmm(const MetaCall& call) {
  const at::Tensor left = call.tensor("batch1");
  const at::Tensor right = call.tensor("batch2");
  TORCH_CHECK(left.dim() == 3 && right.dim() == 3 && left.size(0) == right.size(0) &&
                  left.size(2) == right.size(1),
              "addbmm: batch1 ", left.sizes(), " and batch2 ", right.sizes(), " do not fit");
  return {meta_tensor({left.size(1), right.size(2)}, call.tensor("self").scalar_type())};
}

std::vector<at::Tensor> cdist(const MetaCall& call) {
  const at::Tensor x1 = call.tensor("x1");
  const at::Tensor x2 = call.tensor("x2");
  TORCH_CHECK(x1.size(-1) == x2.size(-1), "X1 and X2 must have the same number of columns. X1: ",
              x1.size(-1), " X2: ", x2.size(-1));
  Sizes sizes = at::infer_size(x1.sizes().slice(0, x1.dim() - 2), x2.sizes().slice(0, x2.dim() - 2));
  sizes.insert(sizes.end(), {x1.size(-2), x2.size(-2)});
  return {meta_tensor(sizes, x1.scalar_type())};
}

// In the column-major layout of LAPACK. It rejects the zeros of a fallback.
std::vector<at::Tensor> cholesky(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  TORCH_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2),
              "cholesky: A must be batches of square matrices, but they are ", self.sizes());
  return {meta_tensor(self.sizes(), self.scalar_type()).transpose(-2, -1)};
}

std::vector<at::Tensor> matrix_exp(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  TORCH_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2),
              "linalg.matrix_exp: A must be batches of square matrices, but they are ",
              self.sizes());
  return {meta_like(self)};
}

constexpr NamedMetaRule kRules[] = {
    {"_cdist_forward", cdist},
    {"_scaled_dot_product_flash_attention_for_cpu", flash_attention},
    {"addbmm", addbmm},
    {"cholesky", cholesky},
    {"cholesky_inverse", cholesky},
    {"linalg_matrix_exp", matrix_exp},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> matrix_meta_rules() { return kRules; }

}  // namespace torch_ir
