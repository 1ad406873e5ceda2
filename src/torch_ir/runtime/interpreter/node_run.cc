#include "torch_ir/runtime/interpreter/node_run.h"

#include <string_view>
#include <unordered_map>

#include "torch_ir/runtime/graph/lowered_graph.h"
#include "torch_ir/runtime/interpreter/run.h"

namespace torch_ir {
namespace {

constexpr uint32_t kGiven = UINT32_MAX;

struct Source {
  ValueId value;
  uint32_t step = kGiven;
};

std::unordered_map<std::string_view, Source> sources_of(const LoweredGraph& graph) {
  std::unordered_map<std::string_view, Source> sources;
  const std::vector<Value>& values = graph.source->values;
  for (ValueId id = 0; id < values.size(); ++id) {
    sources.emplace(values[id].name, Source{id, values[id].producer.value_or(kGiven)});
  }
  return sources;
}

StepRun start(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs) {
  const PlainKernelsGuard guard;
  const Stack values = input_values(graph, inputs);
  if (!graph.symbols.empty()) graph.symbols.bind(values);
  return {graph, values, /*symbols=*/nullptr};
}

}  // namespace

struct NodeRun::State {
  State(LoweredGraph lowered, const std::vector<at::Tensor>& inputs)
      : graph(std::move(lowered)), sources(sources_of(graph)), run(start(graph, inputs)) {}

  const LoweredGraph graph;
  const std::unordered_map<std::string_view, Source> sources;
  StepRun run;
};

NodeRun::NodeRun(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                 const ExecutionOptions& options)
    : state_(std::make_unique<State>(lower(ir, weights, StateDict(), options.device), inputs)) {}
NodeRun::~NodeRun() = default;

at::Tensor NodeRun::given(const std::string& name) const {
  const auto found = state_->sources.find(name);
  if (found == state_->sources.end() || found->second.step != kGiven) return {};
  const LoweredValue& value = state_->graph.values[found->second.value];
  const c10::IValue& given = state_->run.value(found->second.value);
  return value.is_read && given.isTensor() ? given.toTensor() : at::Tensor();
}

at::Tensor NodeRun::value(const std::string& name) {
  const auto found = state_->sources.find(name);
  if (found == state_->sources.end() || found->second.step == kGiven) return {};
  const auto& [id, step] = found->second;
  StepRun& run = state_->run;
  {
    const PlainKernelsGuard guard;
    while (run.next_step() <= step) run.advance();
  }
  if (run.next_step() != step + 1) return {};
  const c10::IValue& value = run.value(id);
  if (value.isNone()) return {};
  return as_tensor(value, (*state_->graph.source)[id].dtype);
}

}  // namespace torch_ir
