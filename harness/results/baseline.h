// What has changed since an earlier run: `harness --baseline OLD/results.json`.
//
// compare_with_baseline is called with what the file says and with the results of this run; the
// console, SUMMARY.md and results.json read what it gives. Plain data, no files.
//
// What counts as worse:
// - a model was good (passed, or failed as expected) and is not any more;
// - it failed before, and now fails in an earlier stage;
// - the maximum difference of a trial, or its smallest passing tolerance, has grown: to more than
//   twice what it was, and by more than 1e-7; NaN is greater than infinity, and that than all else.
//   (On one machine figures are the same from run to run, so this is about other machines, where
//   operators round differently.)
//   Of a single call, its own figures take the place of those of trials.
// The opposite is better. Another graph, another kind of failure in the same stage, and a status
// that is as good are changes, and neither. A model that is new, or gone, is no change of another;
// one that either run was not asked for, or was interrupted before, is not compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
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

// "worse", "gone", "changed", "new", "better".
std::string_view trend_name(Trend trend);

struct FigureChange {
  using Figure = std::variant<std::string, int64_t, double>;

  // "status", "graph", "nodes", "max diff, normal values", ...
  std::string what = {};
  // Both empty for a graph.
  Figure before = {};
  Figure now = {};
  Trend trend = Trend::kChanged;
  // Whether these are tolerances, which are rounded up where they are shown.
  bool is_tolerance = false;
  // Of a graph, in words, where these are known.
  std::vector<std::string> details = {};
};

struct ModelChange {
  std::string model = {};
  // The worst of its changes.
  Trend trend = Trend::kChanged;
  // A new model has its status alone, and so has one that is gone.
  std::vector<FigureChange> changes = {};
};

struct BaselineComparison {
  // How the runs themselves differ: "LibTorch: 2.12.0 -> 2.13.0".
  std::vector<std::string> notes = {};
  // Models, and single calls, that both runs have.
  size_t num_compared = 0;
  size_t num_cases = 0;
  // Models and calls that have changed, the worst first, and otherwise in the order in which they
  // ran; those that are gone in the order of the earlier run.
  std::vector<ModelChange> models = {};

  size_t count(Trend trend) const;
  bool is_worse() const { return count(Trend::kWorse) != 0; }
};

// What has changed in graphs, in words, by model, as graph_changes finds it.
using GraphChanges = std::map<std::string, std::vector<std::string>>;

// Figures of trials are compared only where both runs drew their values with the same seed.
BaselineComparison compare_with_baseline(const RunRecord& old, const RunRecord& now,
                                         const GraphChanges& graph_changes = {});

// For each model before its files are written, which may be the same files: the graph of `result`
// compared with that of the same model in `old`, which lies in ir/ beside
// `file`, its results.json; a line each. Empty when the graphs are the same, when a run has none,
// and when there is no such file any more. What is wrong with the file is said in a line.
std::vector<std::string> graph_changes(const RunRecord& old, const std::string& file,
                                       const Result& result);

}  // namespace torch_ir
