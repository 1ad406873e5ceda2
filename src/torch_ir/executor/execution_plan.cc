#include "torch_ir/executor/execution_plan.h"

#include <utility>

#include "torch_ir/executor/graph/lower.h"
#include "torch_ir/executor/interpreter/run.h"
#include "torch_ir/executor/profile.h"
#include "torch_ir/executor/replay/replays.h"

namespace torch_ir {

struct ExecutionPlan::State {
  State(LoweredGraph lowered, const ExecutionOptions& options)
      : graph(std::move(lowered)), replays(graph, options) {}

  void run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs,
           bool is_checked) const {
    const ReplayResult result = replays.run(inputs, outputs, is_checked);
    if (result == ReplayResult::kDone) return;
    outputs = run_graph(graph, inputs, is_checked);
    // What failed only in a replay would fail again.
    if (result == ReplayResult::kFailed) replays.refuse();
  }

  const LoweredGraph graph;
  // Filled while the plan is used; that does not show in what it computes.
  mutable Replays replays;
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
  state_->run(inputs, outputs, /*is_checked=*/false);
}

std::vector<at::Tensor> ExecutionPlan::run_checked(const std::vector<at::Tensor>& inputs) const {
  std::vector<at::Tensor> outputs;
  state_->run(inputs, outputs, /*is_checked=*/true);
  return outputs;
}

std::optional<PlanMemory> ExecutionPlan::memory(const std::vector<at::Tensor>& inputs) const {
  return state_->replays.memory(inputs);
}

std::vector<NodeProfile> ExecutionPlan::profile(const std::vector<at::Tensor>& inputs,
                                                int rounds) const {
  if (const auto timing = state_->replays.time(inputs, rounds)) {
    return profile_of(state_->graph, *timing);
  }
  return profile_steps(state_->graph, inputs, rounds);
}

ExecutionPlan compile(const IR& ir, const StateDict& weights, const StateDict& constants,
                      const ExecutionOptions& options) {
  return ExecutionPlan(std::make_unique<const ExecutionPlan::State>(
      lower(ir, weights, constants, options), options));
}

}  // namespace torch_ir
