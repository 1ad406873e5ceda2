// SegmentedGraph: a graph cut into segments that are replayed and nodes that are not.
//
// At first the whole graph is one segment. Tracing shows which nodes cannot be replayed (the size
// of the result depends on data, random numbers, control flow, a registered op handler); those run
// as steps between segments. The graphs of control flow are segmented too.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/runtime/graph/execution_options.h"
#include "torch_ir/runtime/graph/graph_range.h"
#include "torch_ir/runtime/interpreter/run.h"
#include "torch_ir/runtime/replay/replays.h"
#include "torch_ir/runtime/replay/tracer.h"

namespace torch_ir {

struct SegmentedRunRecord {
  std::vector<ReplayRecord> replayed;
  std::map<size_t, double> step_seconds;
  // If given, gets the values of nodes. One that it gets again replaces the earlier one.
  OnValue on_value;
};

class SegmentedGraph {
 public:
  // `graph` outlives this.
  SegmentedGraph(const LoweredGraph& graph, const ExecutionOptions& options);
  ~SegmentedGraph();

  // As ExecutionPlan::run, or run_checked. With `record`, it records the run and replays everything
  // that it can.
  void run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs, bool is_checked,
           SegmentedRunRecord* record = nullptr);

  // As ExecutionPlan::not_replayed.
  std::vector<NodeNotReplayed> not_replayed() const;

  // As ExecutionPlan::exact_runs.
  std::vector<ExactRuns> exact_runs() const;

 private:
  struct Segment {
    size_t first;
    size_t last;
    // Null for nodes that run step by step.
    std::unique_ptr<Replays> replays = nullptr;
  };
  using SegmentRef = std::shared_ptr<const Segment>;

  void add_replayed(size_t first, size_t last);
  void add_steps(size_t first, size_t last, const std::string& reason);
  void cut_at(const Segment& segment, size_t node, const std::string& reason);
  void cut(const Segment& segment, const TraceRefused& refused);
  SegmentRef segment_at(size_t node) const;

  // Nothing if the whole graph is not replayed in one, at least this time.
  std::optional<ReplayResult> run_whole(const std::vector<at::Tensor>& inputs,
                                        std::vector<at::Tensor>& outputs, ReplayOptions options,
                                        SegmentedRunRecord* record);
  Stack run_body(const Stack& inputs, SymbolValues* symbols);
  Stack run_segments(const Stack& inputs, SymbolValues* symbols, SegmentedRunRecord* record);
  // Done also if it has cut the segment, so that `run` has not advanced.
  ReplayResult replay(const Segment& segment, StepRun& run, SymbolValues* symbols,
                      SegmentedRunRecord* record);
  // Nothing if it has cut the segment.
  std::optional<ReplayResult> try_replay(const Segment& segment,
                                         const std::vector<at::Tensor>& inputs,
                                         std::vector<at::Tensor>& outputs,
                                         const ReplayOptions& options);
  // Adds those of the graphs inside a node of control flow: "cond > mul".
  template <class Item>
  void add_inner(const LoweredNode& node, std::vector<Item> (SegmentedGraph::*list)() const,
                 std::vector<Item>& all) const;
  // Runs the nodes before `last`.
  void run_to(size_t last, StepRun& run, SegmentedRunRecord* record) const;

  const LoweredGraph& graph_;
  const ExecutionOptions options_;
  const std::vector<size_t> read_until_;
  std::unordered_map<const LoweredGraph*, std::unique_ptr<SegmentedGraph>> bodies_;
  const BodyRunner run_body_of_;
  // The whole graph, kept for runs that go on while it is cut.
  SegmentRef whole_segment_;
  std::atomic<Replays*> whole_ = nullptr;
  mutable std::mutex mutex_;
  // Together they cover all nodes. Guarded by mutex_.
  std::map<size_t, SegmentRef> segments_;
  // Guarded by mutex_.
  std::map<size_t, std::string> reasons_;
  // By node. Guarded by mutex_.
  std::map<size_t, int64_t> exact_runs_;
};

}  // namespace torch_ir
