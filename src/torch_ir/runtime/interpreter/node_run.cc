#include "torch_ir/runtime/interpreter/node_run.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/interpreter/run.h"

namespace torch_ir {
namespace {

StepRun start(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs) {
  const PlainKernelsGuard guard;
  const Stack values = input_values(graph, inputs);
  if (!graph.symbols.empty()) graph.symbols.bind(values);
  return {graph, values, /*symbols=*/nullptr};
}

}  // namespace

struct NodeRun::State {
  State(LoweredGraph lowered, const std::vector<at::Tensor>& inputs)
      : graph(std::move(lowered)), run(start(graph, inputs)) {}

  const LoweredGraph graph;
  StepRun run;
  // Made when a name is asked for.
  std::unordered_map<std::string_view, ValueId> ids = {};
};

NodeRun::NodeRun(std::shared_ptr<const Program> program, const StateDict& weights,
                 const std::vector<at::Tensor>& inputs, const ExecutionOptions& options)
    : state_(std::make_unique<State>(
          lower(std::move(program), weights, StateDict(), options.device), inputs)) {}

NodeRun::NodeRun(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                 const ExecutionOptions& options)
    : NodeRun(std::make_shared<const Program>(resolve(ir)), weights, inputs, options) {}
NodeRun::~NodeRun() = default;

const LoweredGraph& NodeRun::graph() const { return state_->graph; }

at::Tensor NodeRun::given(ValueId value) const {
  if ((*state_->graph.source)[value].producer) return {};
  const c10::IValue& given = state_->run.value(value);
  return state_->graph.values[value].is_read && given.isTensor() ? given.toTensor() : at::Tensor();
}

at::Tensor NodeRun::value(ValueId value) {
  const Value& declared = (*state_->graph.source)[value];
  if (!declared.producer) return {};
  StepRun& run = state_->run;
  {
    const PlainKernelsGuard guard;
    while (run.next_step() <= *declared.producer) run.advance();
  }
  if (run.next_step() != *declared.producer + 1 || run.value(value).isNone()) return {};
  return as_tensor(run.value(value), declared.dtype);
}

at::Tensor NodeRun::value(const std::string& name) {
  if (state_->ids.empty()) {
    const std::vector<Value>& values = state_->graph.source->values;
    for (ValueId id = 0; id < values.size(); ++id) state_->ids.emplace(values[id].name, id);
  }
  const auto found = state_->ids.find(name);
  return found == state_->ids.end() ? at::Tensor() : value(found->second);
}

}  // namespace torch_ir
