#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/results/baseline.h"
#include "torch_ir/analysis/diff.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

// Nothing if its file is missing. Throws Error if that cannot be read, or is from another run.
std::optional<Program> saved_graph(const Result& result, const fs::path& folder) {
  const std::string name = "ir/" + result.name + ".json";
  const std::optional<GraphSummary> summary = result.graph_summary();
  if (!summary || !fs::exists(folder / name)) return std::nullopt;
  const IR graph = load_ir((folder / name).string());
  if (graph_fingerprint(graph) != summary->fingerprint) {
    throw Error(name + " beside results.json is from another run");
  }
  return resolve(graph, GraphChecks::kStructure);
}

std::vector<std::string> in_words(Program before, const Program& after) {
  before.torch_version = after.torch_version;
  before.constants = after.constants;
  const GraphDiff difference = diff(before, after);
  if (difference.is_equal()) return {summary_text(difference)};
  std::vector<std::string> lines;
  for (const Change& change : difference.changes) lines.push_back(change_text(change));
  return lines;
}

StateDict values_of(const Result& result, const std::string& folder) {
  const fs::path path = fs::path(folder) / values_file(result.name);
  return fs::exists(path) ? load_weights(path.string()) : StateDict();
}

std::string statistics_text(const TensorStatistics& it) {
  std::string text = fmt::format(
      "{}: {} [{}], min {:.4g}, max {:.4g}, mean {:.4g}, standard deviation {:.4g}", it.name,
      it.dtype, fmt::join(it.shape, ", "), it.min, it.max, it.mean, it.standard_deviation);
  if (it.num_nan > 0) text += fmt::format(", {} NaN", it.num_nan);
  return it.num_inf == 0 ? text : text + fmt::format(", {} infinite", it.num_inf);
}

// Returns the change of the first value of a node that differs.
FigureChange* compare_value(const at::Tensor& old, const at::Tensor& now, const std::string& name,
                            const ToleranceRule& rule, NodeChange& node, NodeChanges& all) {
  ++all.num_compared;
  const TensorComparison comparison = compare_as_numbers(now, old, rule);
  if (comparison.is_close) return nullptr;
  ++all.num_different;
  if (!node.node.value.empty()) return nullptr;
  node.node.value = name;
  node.node.comparison = comparison;
  const auto [was, is] = tensors_text(old, now);
  return &node.changes.emplace_back(FigureChange{.what = "value", .before = was, .now = is});
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

TensorComparison compare_as_numbers(const at::Tensor& actual, const at::Tensor& expected,
                                    const ToleranceRule& rule) {
  const bool is_complex = actual.is_complex() || expected.is_complex();
  const c10::ScalarType dtype = actual.scalar_type() == expected.scalar_type()
                                    ? actual.scalar_type()
                                : is_complex ? at::kComplexDouble
                                             : at::kDouble;
  const Tolerance a = tolerance_for(rule, 0, actual.scalar_type());
  const Tolerance b = tolerance_for(rule, 0, expected.scalar_type());
  return compare_tensors(actual.to(dtype), expected.to(dtype),
                         {.rtol = std::max(a.rtol, b.rtol), .atol = std::max(a.atol, b.atol)});
}

std::vector<ModuleDifference> by_module(const std::vector<NodeChange>& nodes) {
  std::vector<ModuleDifference> modules;
  for (const auto& [node, changes] : nodes) {
    auto known = std::ranges::find(modules, node.module, &ModuleDifference::module);
    if (known == modules.end()) known = modules.insert(known, {.module = node.module});
    ++known->num_nodes;
    const TensorComparison& c = node.comparison;
    if (node.value.empty() || !c.mismatch.empty()) continue;
    keep_worst(known->metrics, {.max_diff = c.max_diff,
                                .signal_to_noise = c.signal_to_noise,
                                .cosine_similarity = c.cosine_similarity});
  }
  return modules;
}

NodeChanges node_changes(const Result& old, const RunFolder& old_folder, const Result& now,
                         const RunFolder& new_folder, const ToleranceRule& rule) {
  NodeChanges changes;
  std::optional<Program> before;
  std::optional<Program> after;
  const RunFolder* folder = &old_folder;
  try {
    before = saved_graph(old, old_folder.path);
    folder = &new_folder;
    after = saved_graph(now, new_folder.path);
  } catch (const Error& error) {
    return {.problem = folder->name + ": " + error.what()};
  }
  if (!before || !after) return changes;
  if (old.graph_summary()->fingerprint != now.graph_summary()->fingerprint) {
    changes.graph = in_words(*before, *after);
  }
  StateDict old_values = values_of(old, old_folder.path);
  StateDict new_values = values_of(now, new_folder.path);
  if (old_values.size() > 0 && new_values.size() > 0 && old.kept_trial != now.kept_trial) {
    changes.problem = fmt::format(
        "{}: its values are of different trials: {} kept those of \"{}\", {} those of \"{}\"",
        printable(now.name), old_folder.name, printable(old.kept_trial), new_folder.name,
        printable(now.kept_trial));
    old_values.clear();
    new_values.clear();
  }
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
      FigureChange* figure = compare_value(*old_value, *new_value, name, rule, change, changes);
      if (figure == nullptr || changes.num_different > 1) continue;
      figure->details.push_back(statistics_text(statistics(old_folder.name, *old_value)));
      figure->details.push_back(statistics_text(statistics(new_folder.name, *new_value)));
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

std::vector<std::string> graph_changes(const RunRecord& old, const std::string& file,
                                       const Result& result) {
  const auto was = std::ranges::find(old.results, result.name, &Result::name);
  const std::optional<GraphSummary> now = result.graph_summary();
  if (was == old.results.end() || !result.graph || !was->graph_summary() ||
      was->graph_summary()->fingerprint == now->fingerprint) {
    return {};
  }
  try {
    std::optional<Program> before = saved_graph(*was, fs::path(file).parent_path());
    if (!before) return {};
    return in_words(std::move(*before), result.program());
  } catch (const Error& error) {
    return {error.what()};
  }
}

}  // namespace torch_ir
