// NodeRun: the values of a graph's nodes, one after the other, as the graph runs.
//
// For those who compare a graph node by node. Each step calls its operator through the dispatcher,
// whatever the level, and only when a value is asked for.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

class NodeRun {
 public:
  // As compile and ExecutionPlan::run. Shapes and dtypes of values may be others than the IR says.
  NodeRun(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
          const ExecutionOptions& options = {});
  ~NodeRun();
  NodeRun(const NodeRun&) = delete;
  NodeRun& operator=(const NodeRun&) = delete;

  // What goes into the run as `name`, a graph input or the placeholder of a weight that the graph
  // writes to, as the run has it: its own copy of what it writes to. To be asked for before the
  // first value. Undefined for numbers, for what nobody reads and for other names.
  at::Tensor given(const std::string& name) const;

  // The value called `name` as its node made it; numbers as tensors without dimensions. Undefined
  // where it is None, where the graph does not have it, and where a later one was asked for before.
  // The run may write to it when it goes on. Throws ExecutionError, naming the node that failed on
  // the way.
  at::Tensor value(const std::string& name);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace torch_ir
