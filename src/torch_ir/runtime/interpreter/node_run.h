// NodeRun: runs a graph node by node and exposes the values, to compare a graph step by step.
//
// At every level, each step calls its operator through the dispatcher, and only when a value is
// asked for.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "torch_ir/runtime/graph/execution_options.h"
#include "torch_ir/runtime/graph/lowered_graph.h"

namespace torch_ir {

class NodeRun {
 public:
  // Throws as compile and ExecutionPlan::run do, but accepts values whose shape or dtype differs
  // from the IR.
  NodeRun(std::shared_ptr<const Program> program, const StateDict& weights,
          const std::vector<at::Tensor>& inputs, const ExecutionOptions& options = {});
  NodeRun(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
          const ExecutionOptions& options = {});
  ~NodeRun();
  NodeRun(const NodeRun&) = delete;
  NodeRun& operator=(const NodeRun&) = delete;

  const LoweredGraph& graph() const;

  // A graph input, or a weight that the graph writes to, as the run sees it: a copy if the graph
  // writes to it. Call it before the first `value`. Undefined for numbers, unread inputs and other
  // values.
  at::Tensor given(ValueId value) const;

  // A value as its node made it; numbers as tensors without dimensions. Undefined if it is None,
  // not made by a node, or before a value asked for earlier. The run may write to it when it goes
  // on. Throws ExecutionError, naming the node that failed on the way.
  at::Tensor value(ValueId value);
  // As above, by name; undefined also if the graph has no such value.
  at::Tensor value(const std::string& name);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace torch_ir
