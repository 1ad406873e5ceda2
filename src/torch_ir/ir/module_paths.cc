#include "torch_ir/ir/module_paths.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "torch_ir/quantized/quantized.h"

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

bool is_quantization(const OpNode& node) {
  std::string name = node.op_type.substr(0, node.op_type.find('.'));
  return is_quantized_operator(name + "::");
}

std::vector<std::string> recorded_modules(const IR& ir) {
  std::vector<std::string> paths(ir.nodes.size());
  std::unordered_map<std::string_view, size_t> first_readers;
  for (size_t i = ir.nodes.size(); i-- > 0;) {
    const OpNode& node = ir.nodes[i];
    paths[i] = node.module;
    const auto reader =
        node.outputs.empty() ? first_readers.end() : first_readers.find(node.outputs[0].name);
    const bool is_placed = !node.module.empty() || !is_quantization(node);
    if (!is_placed && reader != first_readers.end()) paths[i] = paths[reader->second];
    for (const TensorMeta& input : node.inputs) first_readers[input.name] = i;
  }
  return paths;
}

}  // namespace

std::vector<std::string> module_paths(const IR& ir) {
  const auto is_recorded = [](const OpNode& node) { return !node.module.empty(); };
  if (std::ranges::none_of(ir.nodes, is_recorded)) return modules_of_weights(ir);
  return recorded_modules(ir);
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
