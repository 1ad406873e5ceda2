// BenchmarkReport: the result of `torch-ir benchmark`, and its forms as text and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {

struct BenchmarkReport {
  std::string model_name;
  std::string optimization;
  std::string device;
  int64_t threads = 1;
  int64_t rounds = 0;
  // Whether there would have been more.
  bool reached_time_limit = false;
  // Where they come from: "file", "archive", "made up", or "none".
  std::string weights;
  std::string inputs;
  // The median of whole runs without profiling.
  double seconds = 0;
  // In the order of the graph.
  std::vector<NodeProfile> nodes;
  // Their modules; empty if the model has none.
  std::vector<std::string> modules;
  // As ExecutionPlan::not_replayed.
  std::vector<NodeNotReplayed> not_replayed;
  // As ExecutionPlan::exact_runs.
  std::vector<ExactRuns> exact_runs;
  std::optional<PlanMemory> memory;
};

// One line per node, the slowest first, with a bar; then the whole run, nodes that are not replayed
// and why, and the memory.
std::string to_text(const BenchmarkReport& report);

// An object with "model_name", "optimization", "device", "threads", "rounds",
// "reached_time_limit", "weights" and "inputs" as above; "seconds", of a whole run; "node_seconds",
// the sum over the nodes; "memory", null or an object with "arena", "returned", "intermediates" and
// "lower_bound", in bytes (see execution_options.h); "not_replayed", a list of "name", "op_type"
// and "reason"; "exact_runs", a list of "name", "op_type" and "num_runs"; and "nodes", the slowest
// first: "index" (in the graph), "name", "op_type", "calls" (a list; empty if a fused call of
// another node does it), "seconds", "bytes", 0 if unknown, and "module", if the model has any.
std::string to_json(const BenchmarkReport& report);

}  // namespace torch_ir
