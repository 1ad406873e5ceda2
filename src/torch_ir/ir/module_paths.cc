#include "torch_ir/ir/module_paths.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

namespace torch_ir {
namespace {

// The modules of nodes or values, as far as known.
using Owners = std::vector<std::optional<std::string>>;

bool is_quantization(const Node& node) {
  return node.target.starts_with("quantized_decomposed.") || node.target.starts_with("torchao.");
}

// For each weight, the module that owns it; several may own a tied one.
Owners weight_owners(const Program& program) {
  Owners owners(program.values.size());
  std::unordered_set<std::string> tied;
  for (const auto& names : program.tied_weights) tied.insert(names.begin(), names.end());
  for (const GraphInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput || tied.contains(input.target)) continue;
    const size_t end = input.target.rfind('.');
    owners[input.value] = end == input.target.npos ? std::string() : input.target.substr(0, end);
  }
  return owners;
}

std::optional<std::string> module_of_weights(const Node& node, const Owners& weights) {
  std::optional<std::string> owner;
  for (const ValueId input : node.inputs()) {
    if (owner && weights[input] && owner != weights[input]) return std::nullopt;
    if (weights[input]) owner = weights[input];
  }
  return owner;
}

// Gives nodes that quantise and have no module that of the first node that reads their results.
void place_quantization(const Graph& graph, Owners& owners) {
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (owners[i] || !is_quantization(node) || node.outputs.empty()) continue;
    const std::vector<uint32_t>& readers = graph[node.outputs[0]].readers;
    if (!readers.empty()) owners[i] = owners[readers.front()];
  }
}

// Gives nodes without a module the innermost one around both neighbours that have one.
void fill_gaps(Owners& owners) {
  Owners after = owners;
  for (size_t i = owners.size(); i-- > 1;) {
    if (!after[i - 1]) after[i - 1] = after[i];
  }
  std::string before;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i]) before = *owners[i];
    if (!owners[i]) owners[i] = after[i] ? enclosing_module(before, *after[i]) : "";
  }
}

}  // namespace

std::vector<std::string> module_paths(const Program& program, bool fills_gaps) {
  const auto is_recorded = [](const Node& node) { return !node.origin.module.empty(); };
  const bool has_recorded = std::ranges::any_of(program.nodes, is_recorded);
  const Owners weights = weight_owners(program);
  Owners owners;
  for (const Node& node : program.nodes) {
    // PT2E quantises outside of all modules, weights before all other nodes.
    const bool is_unplaced = !is_recorded(node) && is_quantization(node);
    owners.push_back(is_unplaced    ? std::nullopt
                     : has_recorded ? std::optional(node.origin.module)
                                    : module_of_weights(node, weights));
  }
  place_quantization(program, owners);
  if (fills_gaps && !has_recorded) fill_gaps(owners);
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
