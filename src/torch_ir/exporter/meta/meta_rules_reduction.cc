// Operators that compute one element of the result from all elements along some dimensions.
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

constexpr NamedMetaRule kReductionRules[] = {
    {"_aminmax", reduction},  {"count_nonzero", reduction}, {"max", reduction},
    {"median", reduction},    {"min", reduction},           {"mode", reduction},
    {"nanmedian", reduction}, {"nansum", reduction},        {"prod", reduction},
    {"std", reduction},       {"std_mean", reduction},      {"trace", reduction},
    {"var", reduction},       {"var_mean", reduction},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> reduction_meta_rules() { return kReductionRules; }

}  // namespace torch_ir
