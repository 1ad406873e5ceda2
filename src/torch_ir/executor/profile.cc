#include "torch_ir/executor/profile.h"

#include <algorithm>
#include <chrono>

#include "torch_ir/executor/interpreter/run.h"

namespace torch_ir {
namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<NodeProfile> named_profiles(const LoweredGraph& graph) {
  std::vector<NodeProfile> profiles;
  for (const LoweredNode& node : graph.nodes)
    profiles.push_back({node.name, node.op_type, {}, 0, 0});
  return profiles;
}

// `rounds[i][k]` are the seconds of step k in round i.
void set_medians(const std::vector<std::vector<double>>& rounds,
                 std::vector<NodeProfile>& profiles) {
  for (size_t step = 0; step < profiles.size(); ++step) {
    std::vector<double> seconds;
    for (const std::vector<double>& round : rounds) seconds.push_back(round[step]);
    profiles[step].seconds = median(std::move(seconds));
  }
}

int64_t bytes_of(const TraceTensor& tensor) {
  return c10::multiply_integers(tensor.sizes) *
         static_cast<int64_t>(c10::elementSize(tensor.dtype));
}

}  // namespace

std::vector<NodeProfile> profile_of(const LoweredGraph& graph, const Replays::Timing& timing) {
  std::vector<NodeProfile> profiles = named_profiles(graph);
  const Trace& trace = *timing.trace;
  for (const TraceCall& call : trace.calls) {
    NodeProfile& profile = profiles[call.step];
    profile.calls.push_back(call.name());
    for (const TensorId tensor : tensors_and_outputs_of(call)) {
      profile.bytes += bytes_of(trace.tensors[tensor]);
    }
  }
  std::vector<std::vector<double>> rounds;
  for (const std::vector<double>& calls : timing.rounds) {
    rounds.emplace_back(profiles.size(), 0.0);
    for (size_t i = 0; i < calls.size(); ++i) rounds.back()[trace.calls[i].step] += calls[i];
  }
  set_medians(rounds, profiles);
  return profiles;
}

std::vector<NodeProfile> profile_steps(const LoweredGraph& graph,
                                       const std::vector<at::Tensor>& inputs, int rounds) {
  std::vector<NodeProfile> profiles = named_profiles(graph);
  for (size_t i = 0; i < profiles.size(); ++i) profiles[i].calls = {profiles[i].op_type};
  std::vector<std::vector<double>> times;
  for (int round = -1; round < rounds; ++round) {
    const Stack values = input_values(graph, inputs);
    std::vector<Clock::time_point> starts;
    run_steps(graph, values, nullptr, [&](size_t /*step*/) { starts.push_back(Clock::now()); });
    starts.push_back(Clock::now());
    if (round < 0) continue;
    times.emplace_back();
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      times.back().push_back(std::chrono::duration<double>(starts[i + 1] - starts[i]).count());
    }
  }
  set_medians(times, profiles);
  return profiles;
}

}  // namespace torch_ir
