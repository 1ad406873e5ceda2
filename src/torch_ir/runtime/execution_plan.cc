#include "torch_ir/runtime/execution_plan.h"

#include <algorithm>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
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
  for (const LoweredNode& node : graph.nodes) {
    profiles.push_back({node.name(), node.op_type(), {}, 0, 0});
  }
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

SegmentedRunRecord recorded_run(SegmentedGraph& graph, const std::vector<at::Tensor>& inputs,
                                OnValue on_value = nullptr) {
  SegmentedRunRecord record;
  record.on_value = std::move(on_value);
  std::vector<at::Tensor> outputs;
  graph.run(inputs, outputs, /*is_checked=*/false, &record);
  return record;
}

// Where a weight lay, and how often it had been written to, if that is counted and matters, when
// the plan was compiled. Each run looks at all of them, so without virtual functions.
struct CompiledWeight {
  CompiledWeight(const GraphInput& input, const LoweredValue& weight)
      : name(&input.target),
        tensor(weight.constant.unsafeGetTensorImpl()),
        has_storage(tensor->has_storage()),
        is_counted(tensor->version_counter().enabled() && !weight.is_written),
        data(data_now()),
        version(version_now()) {}

  const void* data_now() const { return has_storage ? tensor->unsafe_storage().data() : nullptr; }
  uint32_t version_now() const {
    return is_counted ? tensor->version_counter().current_version() : 0;
  }
  bool has_changed() const { return data_now() != data || version_now() != version; }

  const std::string* name;
  const c10::TensorImpl* tensor;
  bool has_storage;
  bool is_counted;
  const void* data;
  uint32_t version;
};

}  // namespace

struct ExecutionPlan::State {
  State(const Case& graph_case, const ExecutionOptions& its_options)
      : constants(graph_case.constants),
        options(its_options),
        graph(lower(graph_case, options.device)),
        segmented(graph, options) {
    for (const GraphInput& input : graph.source->inputs) {
      const LoweredValue& value = graph.values[input.value];
      if (value.constant.defined()) weights.emplace_back(input, value);
    }
  }

  const StateDict constants;
  const ExecutionOptions options;
  const LoweredGraph graph;
  std::vector<CompiledWeight> weights;
  mutable SegmentedGraph segmented;
};

const ExecutionPlan::State& ExecutionPlan::state() const {
  if (state_ != nullptr) return *state_;
  throw ExecutionError("The plan was moved from; use the one that it was moved to.");
}

SegmentedGraph& ExecutionPlan::graph_to_run() const {
  const std::string changed = changed_weight();
  if (changed.empty()) return state_->segmented;
  throw ExecutionError("Weight '" + printable(changed) +
                       "' has changed since the plan was compiled; call reload().");
}

std::string ExecutionPlan::changed_weight() const {
  for (const CompiledWeight& weight : state().weights) {
    if (weight.has_changed()) return *weight.name;
  }
  return {};
}

void ExecutionPlan::reload(const StateDict& weights) {
  *this = compile({state().graph.program, weights, state_->constants}, state_->options);
}

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
  if (&inputs == &outputs) {
    outputs = run(inputs);
    return;
  }
  graph_to_run().run(inputs, outputs, /*is_checked=*/false);
}

std::vector<at::Tensor> ExecutionPlan::run_checked(const std::vector<at::Tensor>& inputs) const {
  std::vector<at::Tensor> outputs;
  graph_to_run().run(inputs, outputs, /*is_checked=*/true);
  return outputs;
}

void ExecutionPlan::observe(const std::vector<at::Tensor>& inputs,
                            const ValueObserver& observer) const {
  recorded_run(graph_to_run(), inputs, [&](ValueId value, const at::Tensor& tensor) {
    observer((*state_->graph.source)[value].name, tensor);
  });
}

std::optional<PlanMemory> ExecutionPlan::memory(const std::vector<at::Tensor>& inputs) const {
  const RandomStateGuard random;
  const SegmentedRunRecord run = recorded_run(graph_to_run(), inputs);
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
  SegmentedGraph& segmented = graph_to_run();
  recorded_run(segmented, inputs);
  std::vector<NodeProfile> profiles = describe(state_->graph, recorded_run(segmented, inputs));
  std::vector<std::vector<double>> seconds(profiles.size());
  for (int round = 0; round < rounds; ++round) {
    const SegmentedRunRecord run = recorded_run(segmented, inputs);
    for (std::vector<double>& of_node : seconds) of_node.push_back(0);
    for (const auto& [node, step_seconds] : run.step_seconds) seconds[node].back() = step_seconds;
    for (const auto& [trace, call_seconds] : run.replayed) {
      for (size_t i = 0; i < call_seconds.size(); ++i) {
        seconds[trace->calls[i].step].back() += call_seconds[i];
      }
    }
  }
  for (size_t i = 0; i < profiles.size(); ++i) profiles[i].seconds = median(std::move(seconds[i]));
  return profiles;
}

std::vector<NodeNotReplayed> ExecutionPlan::not_replayed() const {
  return state().segmented.not_replayed();
}

std::vector<ExactRuns> ExecutionPlan::exact_runs() const { return state().segmented.exact_runs(); }

ExecutionPlan compile(const Case& graph_case, const ExecutionOptions& options) {
  return ExecutionPlan(std::make_unique<const ExecutionPlan::State>(graph_case, options));
}

ExecutionPlan compile(const IR& ir, const StateDict& weights, const StateDict& constants,
                      const ExecutionOptions& options) {
  return compile(Case{.weights = weights, .constants = constants}.with(resolve(ir)), options);
}

}  // namespace torch_ir
