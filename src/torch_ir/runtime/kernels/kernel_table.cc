#include <algorithm>
#include <string>
#include <unordered_map>

#include "torch_ir/runtime/kernels/families.h"
#include "torch_ir/runtime/kernels/kernel.h"

namespace torch_ir {
namespace {

PrepareKernel look_up(std::string_view operator_name) {
  static const auto table = [] {
    std::unordered_map<std::string_view, PrepareKernel> merged;
    for (const KernelTable family : kernel_families()) {
      for (const KernelEntry& entry : family) merged.emplace(entry.operator_name, entry.prepare);
    }
    return merged;
  }();
  const auto found = table.find(operator_name);
  return found == table.end() ? nullptr : found->second;
}

// "aten::add.Tensor" for "aten::add_.Tensor"; other names are unchanged.
std::string functional_name(std::string_view operator_name) {
  std::string name(operator_name);
  const size_t end = std::min(name.find('.'), name.size());
  if (end > 0 && name[end - 1] == '_') name.erase(end - 1, 1);
  return name;
}

}  // namespace

PrepareKernel find_kernel(std::string_view operator_name) {
  const PrepareKernel found = look_up(operator_name);
  return found != nullptr ? found : look_up(functional_name(operator_name));
}

std::vector<KernelTable> kernel_families() {
  return {attention_kernels(),     copying_kernels(), indexing_kernels(), matrix_kernels(),
          normalization_kernels(), plain_kernels(),   pooling_kernels()};
}

}  // namespace torch_ir
