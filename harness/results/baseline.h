// BaselineComparison: the changes since an earlier run (`harness --baseline OLD/results.json`, or
// `harness compare OLD NEW`), as plain data.
//
// A model or case is worse if
// - it fails now, and did not fail before;
// - the max abs. error of a trial (or of a single call), or its smallest passing tolerance, has
//   more than doubled and grown by more than 1e-7; NaN is greater than infinity. (Figures never
//   vary on one machine; on others operators may round differently.)
// - its outputs pass in both runs, both compared the values of nodes, and more of them differ.
//
// A model is also worse if it is gone: one of the registry that the selection includes, or in a
// file, unless this run was given single files.
//
// The opposite is better, and so is support for a call that had none. These are neutral: another
// stage or kind of a failure, a failure that is expected now or no longer, a different graph,
// another error of a node, and an equally good status. Models that one of the runs did not select,
// or did not reach before it was interrupted, are not compared; those in files that only this run
// was given are new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/results/result.h"
#include "harness/results/run_context.h"

namespace torch_ir {

// From worst to best.
enum class Trend { kWorse, kGone, kChanged, kNew, kBetter };

inline constexpr std::array kTrends = {Trend::kWorse, Trend::kGone, Trend::kChanged, Trend::kNew,
                                       Trend::kBetter};

std::string_view trend_name(Trend trend);

struct FigureChange {
  using Figure = std::variant<std::string, int64_t, double>;

  // "status", "graph", "nodes", "max abs. error, normal values", ...
  std::string what = {};
  // Both empty for a graph.
  Figure before = {};
  Figure now = {};
  Trend trend = Trend::kChanged;
  // Tolerances are rounded up for display.
  bool is_tolerance = false;
  std::vector<std::string> details = {};
};

struct ModelChange {
  std::string model = {};
  // Whether it is a single call.
  bool is_case = false;
  Trend trend = Trend::kChanged;
  // Only the status for a new or removed model.
  std::vector<FigureChange> changes = {};
};

struct NodeChange {
  // Of the new graph. `value` is its first value that differs from that of the old run, which the
  // comparison expects; empty if none does.
  ValueDetail node = {};
  // Of that value first, of its errors and its place.
  std::vector<FigureChange> changes = {};
};

struct NodeChanges {
  // Of the graphs, one line per change; empty if they are equal or one is missing.
  std::vector<std::string> graph = {};
  // Nodes that both graphs have and that changed, in the order of the new graph.
  std::vector<NodeChange> nodes = {};
  // Values that both runs kept, those of them that differ, and values that one run kept.
  int64_t num_compared = 0;
  int64_t num_different = 0;
  int64_t num_single = 0;
  // Why the values are not compared: they are of different trials, or a graph is unknown.
  std::string problem = {};
};

// By model.
using NodeChangesOf = std::map<std::string, NodeChanges>;

struct BaselineComparison {
  // Differences between the runs: "LibTorch: 2.12.0 -> 2.13.0".
  std::vector<std::string> notes = {};
  size_t num_compared = 0;
  size_t num_cases = 0;
  // Models that are gone. Cases do not count: another graph has other calls.
  int64_t num_lost = 0;
  // The changed models and cases, worst first, then in the order of this run; those that are gone,
  // in the order of the earlier run.
  std::vector<ModelChange> models = {};
  // What node_changes returned, or only changes of graphs.
  NodeChangesOf nodes = {};

  size_t count(Trend trend) const;
  bool is_worse() const { return count(Trend::kWorse) != 0 || num_lost != 0; }
};

// Compares trials only if both runs had the same seed.
BaselineComparison compare_with_baseline(const RunRecord& old, const RunRecord& now,
                                         NodeChangesOf node_changes = {});

// Adds `figure` to `changes`, unless both numbers are nearly equal or one is missing.
void compare_figures(FigureChange figure, std::optional<double> before, std::optional<double> now,
                     std::vector<FigureChange>& changes);

// Compares tensors whose dtypes may differ, by the greater of their tolerances.
TensorComparison compare_as_numbers(const at::Tensor& actual, const at::Tensor& expected,
                                    const ToleranceRule& rule = {.by_dtype = true});

// How far the values of a module's nodes are apart in two runs.
struct ModuleDifference {
  std::string module = {};
  int64_t num_nodes = 0;
  // Of the values that differ and have the same shape; the least SNR and cosine similarity.
  DifferenceMetrics metrics = {};
};

// In the order of the graph.
std::vector<ModuleDifference> by_module(const std::vector<NodeChange>& nodes);

// "3 of 40 values of nodes differ; only one run kept 2 other values".
std::string values_text(const NodeChanges& nodes);

// A run to compare: its folder of reports or its results.json, and its name in texts.
struct RunFolder {
  std::string path = {};
  std::string name = {};
};

// Compares two results of a model, node by node, with the files in the folders of their reports.
// Nodes are paired as `torch-ir diff` pairs them, so the graphs may be two versions of a model. If
// both runs kept values (--save-values), these are compared with each other, by `rule`. Throws
// Error for values that cannot be read.
NodeChanges node_changes(const Result& old, const RunFolder& old_folder, const Result& now,
                         const RunFolder& new_folder, const ToleranceRule& rule);

// Compares the graph of `result` with the model's graph in `old`, a file in ir/ beside `file`, its
// results.json. Must be called before reports are written, because they may replace that file.
// Returns NodeChanges::graph, or one line with the problem of the file.
std::vector<std::string> graph_changes(const RunRecord& old, const std::string& file,
                                       const Result& result);

}  // namespace torch_ir
