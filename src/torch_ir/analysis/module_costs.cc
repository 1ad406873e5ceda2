#include "torch_ir/analysis/module_costs.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/analysis/multiply_adds.h"
#include "torch_ir/ir/module_paths.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxRows = 40;

// The first `depth` names of a path.
std::string_view cut_path(std::string_view path, size_t depth) {
  size_t end = 0;
  for (size_t i = 0; i < depth && end != path.npos; ++i) end = path.find('.', end + (i > 0));
  return path.substr(0, end);
}

std::vector<std::string_view> rows_of_nodes(const std::vector<std::string>& paths) {
  std::vector<std::string_view> rows;
  for (size_t depth = 1;; ++depth) {
    std::vector<std::string_view> deeper;
    for (const std::string& path : paths) deeper.push_back(cut_path(path, depth));
    const bool fits = std::set(deeper.begin(), deeper.end()).size() <= kMaxRows;
    if (depth > 1 && (!fits || deeper == rows)) return rows;
    rows = std::move(deeper);
  }
}

// The modules around a path, from the outside, and itself.
std::vector<std::string_view> modules_around(std::string_view path) {
  std::vector<std::string_view> modules;
  for (size_t depth = 1; modules.empty() || modules.back() != path; ++depth) {
    modules.push_back(cut_path(path, depth));
  }
  return modules;
}

}  // namespace

std::vector<ModuleCost> costs_by_module(const Program& program, const GraphCost& cost) {
  const std::vector<std::string> paths = module_paths(program);
  if (std::ranges::all_of(paths, &std::string::empty)) return {};
  const std::vector<std::string_view> rows = rows_of_nodes(paths);
  std::vector<ModuleCost> modules;
  std::unordered_map<std::string_view, size_t> places;
  std::vector<std::unordered_set<ValueId>> weights;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [place, is_new] = places.try_emplace(rows[i], modules.size());
    if (is_new) {
      modules.push_back({.path = std::string(rows[i])});
      weights.emplace_back();
    }
    ModuleCost& module = modules[place->second];
    const NodeCost& node = cost.nodes.at(i);
    module.nodes.push_back(i);
    module.multiply_adds += node.multiply_adds.value_or(0);
    module.is_counted = module.is_counted && node.multiply_adds;
    for (const ValueId weight : node.weights) {
      if (!weights[place->second].insert(weight).second) continue;
      module.parameters += count_elements(program[weight]).value().value_or(0);
    }
  }
  // By their last nodes, as PT2E dequantises all weights first; each before those inside it.
  std::unordered_map<std::string_view, size_t> last_nodes;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const std::string_view module : modules_around(rows[i])) last_nodes[module] = i;
  }
  std::ranges::stable_sort(modules, {}, [&](const ModuleCost& module) {
    std::vector<size_t> place;
    for (const std::string_view one : modules_around(module.path)) {
      if (!one.empty()) place.push_back(last_nodes.at(one));
    }
    return place;
  });
  return modules;
}

}  // namespace torch_ir
