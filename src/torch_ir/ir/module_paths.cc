#include "torch_ir/ir/module_paths.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace torch_ir {
namespace {

// The module of each node, as far as known.
using Owners = std::vector<std::optional<std::string>>;

bool is_quantization(const OpNode& node) {
  return node.op_type.starts_with("quantized_decomposed.") || node.op_type.starts_with("torchao.");
}

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

// Gives nodes that quantise and have no module that of the first node that reads their results.
void place_quantization(const IR& ir, Owners& owners) {
  std::unordered_map<std::string_view, size_t> first_readers;
  for (size_t i = ir.nodes.size(); i-- > 0;) {
    const OpNode& node = ir.nodes[i];
    if (!owners[i] && is_quantization(node) && !node.outputs.empty()) {
      const auto reader = first_readers.find(node.outputs[0].name);
      if (reader != first_readers.end()) owners[i] = owners[reader->second];
    }
    for (const TensorMeta& input : node.inputs) first_readers[input.name] = i;
  }
}

// Gives nodes without a module the innermost one around both neighbours that have one.
void fill_gaps(Owners& owners) {
  std::string before;
  auto after = owners.begin();
  for (auto owner = owners.begin(); owner != owners.end(); ++owner) {
    if (*owner) {
      before = **owner;
      continue;
    }
    if (after <= owner) {
      after = std::find_if(owner, owners.end(), [](const auto& it) { return it.has_value(); });
    }
    *owner = after == owners.end() ? "" : enclosing_module(before, **after);
  }
}

}  // namespace

std::vector<std::string> module_paths(const IR& ir) {
  const auto is_recorded = [](const OpNode& node) { return !node.module.empty(); };
  const bool has_recorded = std::ranges::any_of(ir.nodes, is_recorded);
  Owners owners;
  for (const OpNode& node : ir.nodes) {
    // PT2E quantises outside of all modules, weights before all other nodes.
    const bool is_unplaced = node.module.empty() && is_quantization(node);
    owners.push_back(is_unplaced    ? std::nullopt
                     : has_recorded ? std::optional(node.module)
                                    : module_of_weights(ir, node));
  }
  place_quantization(ir, owners);
  if (!has_recorded) fill_gaps(owners);
  std::vector<std::string> paths;
  for (std::optional<std::string>& owner : owners) paths.push_back(std::move(owner).value_or(""));
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
