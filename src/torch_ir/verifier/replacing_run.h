// ReplacingRun: a run of a graph, node by node, whose values can be replaced on the way.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "torch_ir/runtime/graph/lowered_graph.h"
#include "torch_ir/runtime/interpreter/run.h"

namespace torch_ir {

// A copy goes on by itself: what the graph writes to is copied too.
class ReplacingRun {
 public:
  // `is_wide`: the graph is in float64. Throws as NodeRun.
  ReplacingRun(const Case& graph_case, bool is_wide);
  ReplacingRun(const ReplacingRun& other);
  ReplacingRun(ReplacingRun&&) = default;
  ReplacingRun& operator=(const ReplacingRun&) = delete;
  ReplacingRun& operator=(ReplacingRun&&) = default;
  ~ReplacingRun() = default;

  const LoweredGraph& graph() const { return *graph_; }
  size_t next_step() const { return run_->next_step(); }
  void advance();

  // A value of the last node, or an input or constant; numbers as tensors. Undefined for None.
  at::Tensor value(ValueId id) const;

  // Replaces a value of the last node, keeping its dtype and strides. Numbers, and values of
  // another shape, stay as they are.
  void replace(ValueId id, const at::Tensor& value);

 private:
  std::shared_ptr<const LoweredGraph> graph_;
  bool is_wide_;
  std::unique_ptr<StepRun> run_;
};

}  // namespace torch_ir
