#include "torch_ir/exporter/meta/meta_rules.h"

#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>

#include <string>
#include <unordered_map>

#include "torch_ir/exporter/meta/cpu_probe.h"

namespace torch_ir {
namespace {

using RuleTable = std::unordered_map<std::string_view, const NamedMetaRule*>;

RuleTable make_table() {
  RuleTable table;
  for (c10::ArrayRef<NamedMetaRule> rules :
       {pointwise_meta_rules(), reduction_meta_rules(), indexing_meta_rules(),
        convolution_meta_rules(), normalization_meta_rules(), window_meta_rules(),
        matrix_meta_rules()}) {
    for (const NamedMetaRule& rule : rules) {
      const bool is_new = table.emplace(rule.name, &rule).second;
      TORCH_INTERNAL_ASSERT(is_new, "two shape rules for ", rule.name);
    }
  }
  return table;
}

// An element for each element of `meta`, up to one a dimension.
at::Tensor shrunk_ones(const at::Tensor& meta) {
  Sizes sizes = meta.sizes().vec();
  for (int64_t& size : sizes) size = size == 0 ? 0 : 1;
  at::Tensor ones =
      at::ones(sizes, at::TensorOptions(c10::DeviceType::CPU).dtype(meta.scalar_type()));
  copy_wrapped_number(meta, ones);
  return ones;
}

}  // namespace

const NamedMetaRule* find_meta_rule(std::string_view name) {
  static const RuleTable table = make_table();
  constexpr std::string_view kNamespace = "aten::";
  if (!name.starts_with(kNamespace)) return nullptr;
  name.remove_prefix(kNamespace.size());
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

std::vector<c10::ScalarType> result_dtypes(const MetaCall& call) {
  std::vector<c10::ScalarType> dtypes;
  for (const c10::IValue& result : call_on_cpu(call.op(), call.arguments(), shrunk_ones)) {
    dtypes.push_back(result.toTensor().scalar_type());
  }
  return dtypes;
}

}  // namespace torch_ir
