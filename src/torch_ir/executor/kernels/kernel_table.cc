#include <algorithm>
#include <string>
#include <unordered_map>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/kernel.h"

namespace torch_ir {
namespace {

using Table = std::unordered_map<std::string_view, PrepareKernel>;

Table merge_families() {
  Table merged;
  for (const KernelTable family : kernel_families()) {
    for (const KernelEntry& entry : family) merged.emplace(entry.operator_name, entry.prepare);
  }
  return merged;
}

// "aten::add.Tensor" for "aten::add_.Tensor"; the same name for one that does not write in place.
std::string functional_name(std::string_view operator_name) {
  std::string name(operator_name);
  const size_t end = std::min(name.find('.'), name.size());
  if (end > 0 && name[end - 1] == '_') name.erase(end - 1, 1);
  return name;
}

// The names that "aten::eq.Scalar_out" and "aten::add.out" can have without their last argument.
std::vector<std::string> names_without_out(std::string_view operator_name) {
  constexpr std::string_view kSuffix = "out";
  if (!operator_name.ends_with(kSuffix)) return {};
  operator_name.remove_suffix(kSuffix.size());
  if (operator_name.ends_with('_')) {
    return {std::string(operator_name.substr(0, operator_name.size() - 1))};
  }
  if (!operator_name.ends_with('.')) return {};
  return {std::string(operator_name.substr(0, operator_name.size() - 1)),
          std::string(operator_name) + "Tensor"};
}

PrepareKernel look_up(std::string_view operator_name) {
  static const Table table = merge_families();
  const auto found = table.find(operator_name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

PrepareKernel find_kernel(std::string_view operator_name) {
  if (const PrepareKernel found = look_up(operator_name)) return found;
  if (const PrepareKernel found = look_up(functional_name(operator_name))) return found;
  for (const std::string& name : names_without_out(operator_name)) {
    if (const PrepareKernel found = look_up(name)) return found;
  }
  return nullptr;
}

std::vector<KernelTable> kernel_families() {
  return {attention_kernels(), concatenation_kernels(), copying_kernels(), indexing_kernels(),
          matrix_kernels(),    normalization_kernels(), plain_kernels(),   pooling_kernels()};
}

}  // namespace torch_ir
