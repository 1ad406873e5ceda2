#include "torch_ir/executor/profile.h"

#include <algorithm>
#include <utility>

namespace torch_ir {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

int64_t bytes_of(const TraceTensor& tensor) {
  return c10::multiply_integers(tensor.sizes) *
         static_cast<int64_t>(c10::elementSize(tensor.dtype));
}

// What the nodes call, which is the same in every run.
std::vector<NodeProfile> describe(const LoweredGraph& graph, const SegmentedRunRecord& run) {
  std::vector<NodeProfile> profiles;
  for (const LoweredNode& node : graph.nodes)
    profiles.push_back({node.name, node.op_type, {}, 0, 0});
  for (const auto& [node, seconds] : run.step_seconds) {
    profiles[node].calls = {profiles[node].op_type};
  }
  for (const ReplayRecord& replay : run.replayed) {
    const Trace& trace = *replay.trace;
    for (const TraceCall& call : trace.calls) {
      NodeProfile& profile = profiles[call.step];
      profile.calls.push_back(call.name());
      for (const TensorId tensor : tensors_and_outputs_of(call)) {
        profile.bytes += bytes_of(trace.tensors[tensor]);
      }
    }
  }
  return profiles;
}

// By node.
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

}  // namespace

std::optional<PlanMemory> memory_of(const SegmentedRunRecord& run) {
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

std::vector<NodeProfile> profile_of(const LoweredGraph& graph, SegmentedGraph& segmented,
                                    const std::vector<at::Tensor>& inputs, int rounds) {
  segmented.record(inputs);
  std::vector<NodeProfile> profiles = describe(graph, segmented.record(inputs));
  std::vector<std::vector<double>> seconds(profiles.size());
  for (int round = 0; round < rounds; ++round) {
    const std::vector<double> of_round = seconds_of(segmented.record(inputs), profiles.size());
    for (size_t i = 0; i < profiles.size(); ++i) seconds[i].push_back(of_round[i]);
  }
  for (size_t i = 0; i < profiles.size(); ++i) profiles[i].seconds = median(std::move(seconds[i]));
  return profiles;
}

}  // namespace torch_ir
