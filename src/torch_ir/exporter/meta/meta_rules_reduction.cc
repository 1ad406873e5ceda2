// Operators that compute one element of the result from all elements along some dimensions.
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>

#include "torch_ir/exporter/meta/meta_rules.h"

namespace torch_ir {
namespace {

// What is left of `sizes`. No dimension named means all.
Sizes reduced(c10::IntArrayRef sizes, const Sizes& dims, bool keep) {
  const int64_t rank = static_cast<int64_t>(sizes.size());
  auto mask = at::dim_list_to_bitset(dims, rank);
  if (dims.empty()) mask.flip();
  Sizes left;
  for (int64_t i = 0; i < rank; ++i) {
    if (!mask[i])
      left.push_back(sizes[i]);
    else if (keep)
      left.push_back(1);
  }
  return left;
}

bool keeps(const MetaCall& call) { return call.has("keepdim") && call.boolean("keepdim"); }

std::vector<at::Tensor> reduction(const MetaCall& call) {
  const Sizes dims = call.has("dim") ? call.integers("dim") : Sizes();
  const Sizes sizes = reduced(call.tensor("self").sizes(), dims, keeps(call));
  std::vector<at::Tensor> results;
  for (c10::ScalarType dtype : result_dtypes(call)) results.push_back(meta_tensor(sizes, dtype));
  return results;
}

std::vector<at::Tensor> kthvalue(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  const int64_t length = self.dim() == 0 ? 1 : self.size(call.integer("dim"));
  TORCH_CHECK(call.integer("k") >= 1 && call.integer("k") <= length, "kthvalue(): selected number ",
              "k out of range for dimension ", call.integer("dim"));
  const Sizes sizes = reduced(self.sizes(), call.integers("dim"), keeps(call));
  return {meta_tensor(sizes, self.scalar_type()), meta_tensor(sizes, c10::ScalarType::Long)};
}

// The sum of products of two vectors.
std::vector<at::Tensor> dot(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  const at::Tensor other = call.inputs().at(1);
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", self.dim(),
              "D and ", other.dim(), "D tensors");
  TORCH_CHECK(self.numel() == other.numel(), "inconsistent tensor size, expected tensor of size ",
              self.numel(), ", got ", other.numel());
  TORCH_CHECK(self.scalar_type() == other.scalar_type(),
              "dot : expected both vectors to have same dtype, but found ", self.scalar_type(),
              " and ", other.scalar_type());
  return {meta_tensor({}, self.scalar_type())};
}

constexpr NamedMetaRule kReductionRules[] = {
    {"_aminmax", reduction},
    {"count_nonzero", reduction},
    {"dot", dot},
    {"kthvalue", kthvalue},
    {"max", reduction},
    {"median", reduction},
    {"min", reduction},
    {"mode", reduction},
    {"nanmedian", reduction},
    {"nansum", reduction},
    {"prod", reduction},
    {"std", reduction},
    {"std_mean", reduction},
    {"trace", reduction},
    {"var", reduction},
    {"var_mean", reduction},
    {"vdot", dot},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> reduction_meta_rules() { return kReductionRules; }

}  // namespace torch_ir
