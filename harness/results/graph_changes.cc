#include "harness/results/graph_changes.h"

#include <algorithm>
#include <filesystem>

#include "torch_ir/analysis/diff.h"
#include "torch_ir/base/error.h"
#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

// What differs between `graph` and the one of the file, as far as a fingerprint tells it.
std::vector<std::string> changes(IR old, const IR& graph) {
  old.pytorch_version = graph.pytorch_version;
  old.constants = graph.constants;
  const GraphDiff difference = diff(old, graph);
  if (difference.is_equal()) return {summary_text(difference)};
  std::vector<std::string> lines;
  for (const Change& change : difference.changes) lines.push_back(change_text(change));
  return lines;
}

}  // namespace

std::vector<std::string> graph_changes(const RunResults& old, const std::string& file,
                                       const ModelResult& result) {
  const auto model = std::ranges::find(old.models, result.name, &ModelRecord::name);
  if (model == old.models.end() || !model->graph || !result.graph) return {};
  if (model->graph->fingerprint == graph_fingerprint(*result.graph)) return {};
  const std::string name = "ir/" + result.name + ".json";
  const fs::path path = fs::path(file).parent_path() / name;
  if (!fs::exists(path)) return {};
  try {
    IR graph = load_ir(path.string());
    if (graph_fingerprint(graph) != model->graph->fingerprint) {
      return {name + " beside the baseline is the graph of another run"};
    }
    return changes(std::move(graph), *result.graph);
  } catch (const Error& error) {
    return {error.what()};
  }
}

}  // namespace torch_ir
