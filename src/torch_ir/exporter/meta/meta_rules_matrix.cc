// Products of matrices, factorizations, attention.
#include <ATen/ExpandUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/SDPBackend.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>

#include "torch_ir/exporter/meta/meta_rules.h"
#include "torch_ir/exporter/meta/zero_twins.h"

namespace torch_ir {
namespace {

// The output is laid out as the query; the statistics are computed as [batch, length, heads].
std::vector<at::Tensor> flash_attention(const MetaCall& call) {
  const at::Tensor query = call.tensor("query");
  TORCH_CHECK(query.dim() == 4 && query.size(3) == call.tensor("value").size(3),
              "scaled_dot_product_attention_flash_attention: Q/K/V should have the same head size");
  const auto dtype = at::toOpMathType(query.scalar_type());
  return {meta_like(query),
          meta_tensor({query.size(0), query.size(2), query.size(1)}, dtype).transpose(1, 2)};
}

// Does what the CPU would: the kernels that it chooses from lay out their results differently, and
// models rely on that when they call view().
std::vector<at::Tensor> attention(const MetaCall& call) {
  ZeroTwins twins;
  const at::Tensor query = call.tensor("query");
  const at::Tensor key = call.tensor("key");
  const at::Tensor value = call.tensor("value");
  std::optional<at::Tensor> mask;
  std::optional<at::Tensor> mask_twin;
  if (call.has("attn_mask")) {
    mask = call.tensor("attn_mask");
    mask_twin = twins.of(*mask);
  }
  const double dropout = call.number("dropout_p");
  const bool is_causal = call.boolean("is_causal");
  const bool is_grouped = call.boolean("enable_gqa");
  const std::optional<double> scale =
      call.has("scale") ? std::optional(call.number("scale")) : std::nullopt;
  const int64_t choice = at::_fused_sdp_choice(twins.of(query), twins.of(key), twins.of(value),
                                               mask_twin, dropout, is_causal, scale, is_grouped);
  if (static_cast<at::SDPBackend>(choice) == at::SDPBackend::flash_attention) {
    return {std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout,
                                                                        is_causal, mask, scale))};
  }
  return {std::get<0>(at::_scaled_dot_product_attention_math(query, key, value, mask, dropout,
                                                             is_causal, {}, scale, is_grouped))};
}

std::vector<at::Tensor> addbmm(const MetaCall& call) {
  const at::Tensor left = call.tensor("batch1");
  const at::Tensor right = call.tensor("batch2");
  TORCH_CHECK(left.dim() == 3 && right.dim() == 3 && left.size(0) == right.size(0) &&
                  left.size(2) == right.size(1),
              "addbmm: batch1 ", left.sizes(), " and batch2 ", right.sizes(), " do not fit");
  const at::Tensor self = call.tensor("self");
  const Sizes sizes{left.size(1), right.size(2)};
  TORCH_CHECK(at::is_expandable_to(self.sizes(), sizes), "addbmm: a tensor of sizes ", self.sizes(),
              " can not be expanded to ", c10::IntArrayRef(sizes));
  return {meta_tensor(sizes, self.scalar_type())};
}

std::vector<at::Tensor> cdist(const MetaCall& call) {
  const at::Tensor x1 = call.tensor("x1");
  const at::Tensor x2 = call.tensor("x2");
  TORCH_CHECK(x1.is_floating_point() && x2.is_floating_point(),
              "cdist only supports floating-point ", "dtypes, X1 got: ", x1.scalar_type(),
              ", X2 got: ", x2.scalar_type());
  TORCH_CHECK(x1.size(-1) == x2.size(-1),
              "X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
              " X2: ", x2.size(-1));
  Sizes sizes =
      at::infer_size(x1.sizes().slice(0, x1.dim() - 2), x2.sizes().slice(0, x2.dim() - 2));
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

constexpr NamedMetaRule kMatrixRules[] = {
    {"_cdist_forward", cdist},
    {"_scaled_dot_product_flash_attention_for_cpu", flash_attention},
    {"scaled_dot_product_attention", attention, Composite::kReplace},
    {"addbmm", addbmm},
    {"cholesky", cholesky},
    {"cholesky_inverse", cholesky},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> matrix_meta_rules() { return kMatrixRules; }

}  // namespace torch_ir
