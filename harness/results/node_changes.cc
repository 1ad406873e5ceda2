#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/results/baseline.h"
#include "torch_ir/analysis/diff.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

// Nothing if its file is missing, or from another run.
std::optional<Program> graph_of(const Result& result, const std::string& folder) {
  const fs::path path = fs::path(folder) / "ir" / (result.name + ".json");
  const std::optional<GraphSummary> summary = result.graph_summary();
  if (!summary || !fs::exists(path)) return std::nullopt;
  const IR graph = load_ir(path.string());
  if (graph_fingerprint(graph) != summary->fingerprint) return std::nullopt;
  return resolve(graph, GraphChecks::kStructure);
}

StateDict values_of(const Result& result, const std::string& folder) {
  const fs::path path = fs::path(folder) / "tensors" / (result.name + ".values.safetensors");
  return fs::exists(path) ? load_weights(path.string()) : StateDict();
}

std::string statistics_text(const TensorStatistics& it) {
  std::string text = fmt::format(
      "{}: {} [{}], min {:.4g}, max {:.4g}, mean {:.4g}, standard deviation {:.4g}", it.name,
      it.dtype, fmt::join(it.shape, ", "), it.min, it.max, it.mean, it.standard_deviation);
  if (it.num_nan > 0) text += fmt::format(", {} NaN", it.num_nan);
  return it.num_inf == 0 ? text : text + fmt::format(", {} infinite", it.num_inf);
}

void compare_value(const at::Tensor& old, const at::Tensor& now, const std::string& name,
                   NodeChange& node, NodeChanges& all) {
  ++all.num_compared;
  const auto [was, is] = tensors_text(old, now);
  if (was == is) return;
  const bool is_first = all.num_different++ == 0;
  if (!node.node.value.empty()) return;
  node.node.value = name;
  node.node.comparison = compare_as_numbers(now, old);
  FigureChange& figure =
      node.changes.emplace_back(FigureChange{.what = "value", .before = was, .now = is});
  if (!is_first) return;
  figure.details = {statistics_text(statistics("old", old)),
                    statistics_text(statistics("new", now))};
}

// Errors are those of the worst trial.
void compare_errors(const Result& old, int64_t old_index, const Result& now, NodeChange& change) {
  const auto trial = [](const Result& result) {
    const Trial* worst = result.worst_trial();
    return worst == nullptr ? "" : worst->name;
  };
  if (!old.nodes || !now.nodes || trial(old) != trial(now)) return;
  const auto was = std::ranges::find(old.nodes->errors, old_index, &NodeError::index);
  const auto is = std::ranges::find(now.nodes->errors, change.node.index, &NodeError::index);
  if (was == old.nodes->errors.end() || is == now.nodes->errors.end()) return;
  compare_figures({.what = "max abs. error"}, was->max_diff, is->max_diff, change.changes);
  compare_figures({.what = "own error"}, was->own_error, is->own_error, change.changes);
}

std::string place_of(const Result& result, const std::string& node) {
  for (const auto& [name, reported] : result.executor->nodes) {
    if (name == node && !reported.place.empty()) return reported.place;
  }
  return "not reported";
}

}  // namespace

TensorComparison compare_as_numbers(const at::Tensor& actual, const at::Tensor& expected) {
  const bool is_complex = actual.is_complex() || expected.is_complex();
  const c10::ScalarType dtype = is_complex ? at::kComplexDouble : at::kDouble;
  return compare_tensors(actual.to(dtype), expected.to(dtype));
}

NodeChanges node_changes(const Result& old, const std::string& old_folder, const Result& now,
                         const std::string& new_folder) {
  NodeChanges changes;
  const std::optional<Program> before = graph_of(old, old_folder);
  const std::optional<Program> after = graph_of(now, new_folder);
  if (!before || !after) return changes;
  const StateDict old_values = values_of(old, old_folder);
  const StateDict new_values = values_of(now, new_folder);
  const std::vector<std::optional<size_t>> old_of_new = diff(*before, *after).old_of_new;
  const std::vector<std::string> modules = module_paths(*after);
  for (size_t i = 0; i < after->nodes.size(); ++i) {
    if (!old_of_new[i]) continue;
    const Node& was = before->nodes[*old_of_new[i]];
    const Node& is = after->nodes[i];
    NodeChange change{.node = {.index = static_cast<int64_t>(i),
                               .node = is.name,
                               .op_type = is.target,
                               .module = modules[i]}};
    for (size_t k = 0; k < std::min(was.outputs.size(), is.outputs.size()); ++k) {
      const std::string& name = (*after)[is.outputs[k]].name;
      const at::Tensor* old_value = old_values.find((*before)[was.outputs[k]].name);
      const at::Tensor* new_value = new_values.find(name);
      if (old_value == nullptr || new_value == nullptr) continue;
      compare_value(*old_value, *new_value, name, change, changes);
    }
    compare_errors(old, static_cast<int64_t>(*old_of_new[i]), now, change);
    if (old.executor && now.executor && place_of(old, was.name) != place_of(now, is.name)) {
      change.changes.push_back(
          {.what = "place", .before = place_of(old, was.name), .now = place_of(now, is.name)});
    }
    if (!change.changes.empty()) changes.nodes.push_back(std::move(change));
  }
  changes.num_single =
      static_cast<int64_t>(old_values.size() + new_values.size()) - 2 * changes.num_compared;
  return changes;
}

}  // namespace torch_ir
