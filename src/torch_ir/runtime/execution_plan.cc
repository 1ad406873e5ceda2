#include "torch_ir/runtime/execution_plan.h"

#include <algorithm>
#include <utility>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/lowered_graph.h"
#include "torch_ir/runtime/replay/segmented_graph.h"

namespace torch_ir {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<NodeProfile> describe(const LoweredGraph& graph, const SegmentedRunRecord& run) {
  std::vector<NodeProfile> profiles;
  for (const LoweredNode& node : graph.nodes)
    profiles.push_back({node.name(), node.op_type(), {}, 0, 0});
  for (const auto& [node, seconds] : run.step_seconds) {
    profiles[node].calls = {profiles[node].op_type};
  }
  for (const ReplayRecord& replay : run.replayed) {
    const Trace& trace = *replay.trace;
    for (const TraceCall& call : trace.calls) {
      NodeProfile& profile = profiles[call.step];
      profile.calls.push_back(call.name());
      for (const TensorId tensor : tensors_and_outputs_of(call)) {
        profile.bytes += static_cast<int64_t>(bytes_of(trace.tensors[tensor]));
      }
    }
  }
  return profiles;
}

std::vector<double> seconds_of(const SegmentedRunRecord& run, size_t num_nodes) {
  std::vector<double> seconds(num_nodes, 0.0);
  for (const auto& [node, step_seconds] : run.step_seconds) seconds[node] = step_seconds;
  for (const ReplayRecord& replay : run.replayed) {
    for (size_t i = 0; i < replay.seconds.size(); ++i) {
      seconds[replay.trace->calls[i].step] += replay.seconds[i];
    }
  }
  return seconds;
}

SegmentedRunRecord recorded_run(SegmentedGraph& graph, const std::vector<at::Tensor>& inputs) {
  SegmentedRunRecord record;
  std::vector<at::Tensor> outputs;
  graph.run(inputs, outputs, /*is_checked=*/false, &record);
  return record;
}

}  // namespace

struct ExecutionPlan::State {
  State(LoweredGraph lowered, const ExecutionOptions& options)
      : graph(std::move(lowered)), segmented(graph, options) {}

  const LoweredGraph graph;
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

void ExecutionPlan::observe(const std::vector<at::Tensor>& inputs,
                            const ValueObserver& observer) const {
  SegmentedRunRecord record;
  record.on_value = [&](ValueId value, const at::Tensor& tensor) {
    observer((*state_->graph.source)[value].name, tensor);
  };
  std::vector<at::Tensor> outputs;
  state_->segmented.run(inputs, outputs, /*is_checked=*/false, &record);
}

std::optional<PlanMemory> ExecutionPlan::memory(const std::vector<at::Tensor>& inputs) const {
  const RandomStateGuard random;
  const SegmentedRunRecord run = recorded_run(state_->segmented, inputs);
  if (run.replayed.empty()) return std::nullopt;
  PlanMemory sum;
  for (const ReplayRecord& replay : run.replayed) {
    const PlanMemory& memory = replay.trace->memory;
    sum.arena += memory.arena;
    sum.returned += memory.returned;
    sum.intermediates += memory.intermediates;
    sum.lower_bound += memory.lower_bound;
  }
  return sum;
}

std::vector<NodeProfile> ExecutionPlan::profile(const std::vector<at::Tensor>& inputs,
                                                int rounds) const {
  SegmentedGraph& segmented = state_->segmented;
  recorded_run(segmented, inputs);
  std::vector<NodeProfile> profiles = describe(state_->graph, recorded_run(segmented, inputs));
  std::vector<std::vector<double>> seconds(profiles.size());
  for (int round = 0; round < rounds; ++round) {
    const std::vector<double> of_round =
        seconds_of(recorded_run(segmented, inputs), profiles.size());
    for (size_t i = 0; i < profiles.size(); ++i) seconds[i].push_back(of_round[i]);
  }
  for (size_t i = 0; i < profiles.size(); ++i) profiles[i].seconds = median(std::move(seconds[i]));
  return profiles;
}

std::vector<NodeNotReplayed> ExecutionPlan::not_replayed() const {
  return state_->segmented.not_replayed();
}

ExecutionPlan compile(const Case& graph_case, const ExecutionOptions& options) {
  return ExecutionPlan(
      std::make_unique<const ExecutionPlan::State>(lower(graph_case, options.device), options));
}

ExecutionPlan compile(const IR& ir, const StateDict& weights, const StateDict& constants,
                      const ExecutionOptions& options) {
  return compile({.program = std::make_shared<const Program>(resolve(ir)),
                  .weights = weights,
                  .constants = constants},
                 options);
}

}  // namespace torch_ir
