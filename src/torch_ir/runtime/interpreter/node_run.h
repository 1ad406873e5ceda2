// NodeRun: runs a graph node by node, and shows the values. run_program tells an observer.
//
// Each node calls its operator through the dispatcher. So it is the reference for graphs without
// another: no converter, JSON, plan or kernel takes part. Values are freed after their last use.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "torch_ir/runtime/graph/lowered_graph.h"
#include "torch_ir/runtime/interpreter/run.h"

namespace torch_ir {

// kNone accepts values whose shape or dtype differs from the program; kWarn compares them as
// ExecutionPlan::run_checked does, and kThrow throws ExecutionError for any that differs.
enum class ResultCheck { kNone, kWarn, kThrow };

struct NodeRunOptions {
  std::optional<c10::Device> device = std::nullopt;
  ResultCheck check = ResultCheck::kNone;
  // With kKeep, the caller skips the nodes that this process cannot run.
  Unsupported unsupported = Unsupported::kRefuse;
};

class NodeRun {
 public:
  // Throws as compile and ExecutionPlan::run do. Writes to no weight or input of the case, which
  // need not outlive the run.
  explicit NodeRun(const Case& graph_case, const NodeRunOptions& options = {});
  NodeRun(const NodeRun&) = delete;
  NodeRun& operator=(const NodeRun&) = delete;

  const LoweredGraph& graph() const { return graph_; }

  // The node that runs next, by number; the number of nodes at the end.
  size_t next_node() const { return run_.next_step(); }
  bool is_done() const { return run_.is_done(); }

  // Runs the next node. Throws ExecutionError, naming it.
  void advance();
  // Leaves the next node out; its values stay undefined.
  void skip() { run_.skip_to(next_node() + 1); }

  // A value as it is now: a weight or input that the graph writes to is a copy, a number a tensor
  // without dimensions. Undefined if it is None, unread, not made yet, or freed.
  at::Tensor current(ValueId value) const;

  // A value as its node made it, after running as far as that. Undefined if it is None, not made by
  // a node, or before a value asked for earlier. The run may write to it when it goes on.
  at::Tensor value(ValueId value);
  // As above, by name; undefined also if the graph has no such value.
  at::Tensor value(const std::string& name);

  // Runs to the end and returns the outputs, to which the caller may write (ExecutionPlan::run).
  std::vector<at::Tensor> outputs();

 private:
  StepRun start(const std::vector<at::Tensor>& inputs, ResultCheck check);

  LoweredGraph graph_;
  SymbolValues symbols_;
  StepRun run_;
  // Made when a name is asked for.
  std::unordered_map<std::string_view, ValueId> ids_;
};

// Runs the graph of a case and returns its outputs. `observer` gets the inputs and weights that
// nodes read, in the order of the program, then the values of each node, except inside conditions
// and loops. Nodes in `left_out` (by number; may be empty) do not run, and are not observed;
// outputs that they make are undefined. Throws as NodeRun.
std::vector<at::Tensor> run_program(const Case& graph_case, const ValueObserver& observer = nullptr,
                                    const std::vector<bool>& left_out = {});

}  // namespace torch_ir
