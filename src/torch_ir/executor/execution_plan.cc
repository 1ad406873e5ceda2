#include "torch_ir/executor/execution_plan.h"

#include <utility>

#include "torch_ir/executor/graph/lowered_graph.h"
#include "torch_ir/executor/profile.h"
#include "torch_ir/executor/replay/segmented_graph.h"
#include "torch_ir/operators/random_state.h"

namespace torch_ir {

struct ExecutionPlan::State {
  State(LoweredGraph lowered, const ExecutionOptions& options)
      : graph(std::move(lowered)), segmented(graph, options) {}

  const LoweredGraph graph;
  // Learns while the plan is used; that does not show in what it computes.
  mutable SegmentedGraph segmented;
};

ExecutionPlan::ExecutionPlan(std::unique_ptr<const State> state) : state_(std::move(state)) {}
ExecutionPlan::ExecutionPlan(ExecutionPlan&&) noexcept = default;
ExecutionPlan& ExecutionPlan::operator=(ExecutionPlan&&) noexcept = default;
ExecutionPlan::~ExecutionPlan() = default;

std::vector<at::Tensor> ExecutionPlan::run(const std::vector<at::Tensor>& inputs) const {
  std::vector<at::Tensor> outputs;
  run(inputs, outputs);
  return outputs;
}

void ExecutionPlan::run(const std::vector<at::Tensor>& inputs,
                        std::vector<at::Tensor>& outputs) const {
  state_->segmented.run(inputs, outputs, /*is_checked=*/false);
}

std::vector<at::Tensor> ExecutionPlan::run_checked(const std::vector<at::Tensor>& inputs) const {
  std::vector<at::Tensor> outputs;
  state_->segmented.run(inputs, outputs, /*is_checked=*/true);
  return outputs;
}

std::optional<PlanMemory> ExecutionPlan::memory(const std::vector<at::Tensor>& inputs) const {
  const RandomStateGuard random;
  return memory_of(state_->segmented.record(inputs));
}

std::vector<NodeProfile> ExecutionPlan::profile(const std::vector<at::Tensor>& inputs,
                                                int rounds) const {
  return profile_of(state_->graph, state_->segmented, inputs, rounds);
}

std::vector<NodeNotReplayed> ExecutionPlan::not_replayed() const {
  return state_->segmented.not_replayed();
}

ExecutionPlan compile(const IR& ir, const StateDict& weights, const StateDict& constants,
                      const ExecutionOptions& options) {
  return ExecutionPlan(std::make_unique<const ExecutionPlan::State>(
      lower(ir, weights, constants, options.device), options));
}

}  // namespace torch_ir
