#include "harness/divergence/whole_run_values.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/backend/open_backend.h"
#include "harness/backend/windowed_values.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

// The values of `values` from a run of the graph in which they are outputs.
std::vector<at::Tensor> run_showing(Backend& backend, const Case& graph_case, uint64_t seed,
                                    std::span<const ValueId> values) {
  Program program = *graph_case.program;
  program.constant_outputs.clear();
  // The graph's own outputs are kept, so that it stays the same graph; its state remains last.
  std::vector<ValueId>& outputs = program.outputs;
  const auto num_state = std::ranges::count_if(program.mutations, &Mutation::in_place);
  const std::vector<ValueId> state(outputs.end() - num_state, outputs.end());
  outputs.resize(outputs.size() - state.size());
  std::unordered_map<ValueId, size_t> places;
  for (size_t i = 0; i < outputs.size(); ++i) places.emplace(outputs[i], i);
  const size_t num_own = outputs.size();
  for (const ValueId value : values) {
    if (places.emplace(value, outputs.size()).second) outputs.push_back(value);
  }
  for (Mutation& mutation : program.mutations) {
    if (mutation.in_place) mutation.output += outputs.size() - num_own;
  }
  std::ranges::copy(state, std::back_inserter(outputs));
  const size_t num_outputs = outputs.size();
  at::manual_seed(seed);
  std::vector<at::Tensor> results = run_on(backend, graph_case.with(std::move(program)));
  if (results.size() != num_outputs) {
    throw ExecutionError(
        fmt::format("wrong number of outputs: {}, expected {}", results.size(), num_outputs));
  }
  std::vector<at::Tensor> shown;
  for (const ValueId value : values) shown.push_back(results[places.at(value)]);
  return shown;
}

}  // namespace

std::unique_ptr<NodeValues> whole_run_values(Backend& backend, const ExplainedGraph& graph,
                                             uint64_t seed) {
  std::vector<ValueId> lasting = graph.grouped.values;
  std::erase_if(lasting, [&](ValueId value) {
    return graph.memory.is_written(graph.memory.of(value),
                                   graph.program[value].producer.value() + 1,
                                   graph.program.nodes.size());
  });
  // A run of an executor may take long.
  constexpr int64_t kMostBytes = int64_t{256} << 20;
  const auto run = [&, seed](std::span<const ValueId> values) {
    return run_showing(backend, graph.run.graph_case, seed, values);
  };
  return std::make_unique<WindowedValues>(graph.program, std::move(lasting), kMostBytes, run);
}

}  // namespace torch_ir
