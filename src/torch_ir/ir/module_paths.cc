#include "torch_ir/ir/module_paths.h"

#include <algorithm>
#include <optional>

namespace torch_ir {
namespace {

// The module that owns the first weight of `node`.
std::optional<std::string> module_of_weights(const IR& ir, const OpNode& node) {
  for (const TensorMeta& input : node.inputs) {
    const std::string* name = ir.weight_name_mapping.find(input.name);
    if (!name || input.producer_node) continue;
    const size_t end = name->rfind('.');
    return end == name->npos ? std::string() : name->substr(0, end);
  }
  return std::nullopt;
}

std::vector<std::string> modules_of_weights(const IR& ir) {
  std::vector<std::optional<std::string>> owners;
  for (const OpNode& node : ir.nodes) owners.push_back(module_of_weights(ir, node));

  std::vector<std::string> paths;
  std::string before;
  for (auto owner = owners.begin(); owner != owners.end(); ++owner) {
    if (*owner) {
      before = **owner;
      paths.push_back(before);
      continue;
    }
    const auto after =
        std::find_if(owner, owners.end(), [](const auto& other) { return other.has_value(); });
    paths.emplace_back(after == owners.end() ? "" : enclosing_module(before, **after));
  }
  return paths;
}

}  // namespace

std::vector<std::string> module_paths(const IR& ir) {
  const auto is_recorded = [](const OpNode& node) { return !node.module.empty(); };
  if (std::ranges::none_of(ir.nodes, is_recorded)) return modules_of_weights(ir);
  std::vector<std::string> paths;
  for (const OpNode& node : ir.nodes) paths.push_back(node.module);
  return paths;
}

std::string_view enclosing_module(std::string_view a, std::string_view b) {
  size_t end = 0;
  for (size_t i = 0;; ++i) {
    const bool a_ends = i >= a.size() || a[i] == '.';
    const bool b_ends = i >= b.size() || b[i] == '.';
    if (a_ends && b_ends) end = i;
    if (i >= a.size() || i >= b.size() || a[i] != b[i]) return a.substr(0, end);
  }
}

}  // namespace torch_ir
