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

struct BaselineComparison {
  // Differences between the runs: "LibTorch: 2.12.0 -> 2.13.0".
  std::vector<std::string> notes = {};
  size_t num_compared = 0;
  size_t num_cases = 0;
  // The changed models and cases, worst first, then in the order of this run; those that are gone,
  // in the order of the earlier run.
  std::vector<ModelChange> models = {};

  size_t count(Trend trend) const;
  bool is_worse() const { return count(Trend::kWorse) != 0; }
};

using GraphChanges = std::map<std::string, std::vector<std::string>>;

// Compares trials only if both runs had the same seed.
BaselineComparison compare_with_baseline(const RunRecord& old, const RunRecord& now,
                                         const GraphChanges& graph_changes = {});

// Compares the graph of `result` with the model's graph in `old`, a file in ir/ beside `file`, its
// results.json. Must be called before reports are written, because they may replace that file.
// Returns one line per change, or one line with the problem of the file; empty if the graphs are
// equal or one is missing.
std::vector<std::string> graph_changes(const RunRecord& old, const std::string& file,
                                       const Result& result);

}  // namespace torch_ir
