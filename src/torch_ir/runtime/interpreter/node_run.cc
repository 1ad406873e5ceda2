#include "torch_ir/runtime/interpreter/node_run.h"

#include <string_view>
#include <unordered_map>

#include "torch_ir/runtime/interpreter/run.h"

namespace torch_ir {
namespace {

LoweredGraph lower_for(const Case& graph_case, const NodeRunOptions& options) {
  LoweredGraph graph = lower(graph_case, options.device, options.unsupported);
  if (options.check == ResultCheck::kThrow) graph.differing = nullptr;
  return graph;
}

}  // namespace

struct NodeRun::State {
  State(const Case& graph_case, const NodeRunOptions& options)
      : graph(lower_for(graph_case, options)),
        run(start(graph_case.inputs, options.check != ResultCheck::kNone)) {}

  StepRun start(const std::vector<at::Tensor>& inputs, bool is_checked) {
    const PlainKernelsGuard guard;
    const Stack values = input_values(graph, inputs);
    if (!graph.symbols.empty()) symbols = graph.symbols.bind(values);
    return {graph, values, is_checked ? &symbols : nullptr};
  }

  const LoweredGraph graph;
  SymbolValues symbols = {};
  StepRun run;
  // Made when a name is asked for.
  std::unordered_map<std::string_view, ValueId> ids = {};
};

NodeRun::NodeRun(const Case& graph_case, const NodeRunOptions& options)
    : state_(std::make_unique<State>(graph_case, options)) {}
NodeRun::~NodeRun() = default;

const LoweredGraph& NodeRun::graph() const { return state_->graph; }
size_t NodeRun::next_node() const { return state_->run.next_step(); }
bool NodeRun::is_done() const { return state_->run.is_done(); }

void NodeRun::advance() {
  const PlainKernelsGuard guard;
  state_->run.advance();
}

void NodeRun::skip() { state_->run.skip_to(next_node() + 1); }

at::Tensor NodeRun::current(ValueId value) const {
  const LoweredValue& lowered = state_->graph.values[value];
  if (lowered.is_fixed()) return lowered.constant;
  return as_tensor(state_->run.value(value), lowered.declared->dtype);
}

at::Tensor NodeRun::value(ValueId value) {
  const auto producer = (*state_->graph.source)[value].producer;
  if (!producer) return {};
  while (next_node() <= *producer) advance();
  return next_node() == *producer + 1 ? current(value) : at::Tensor();
}

at::Tensor NodeRun::value(const std::string& name) {
  if (state_->ids.empty()) state_->ids = state_->graph.source->ids();
  const auto found = state_->ids.find(name);
  return found == state_->ids.end() ? at::Tensor() : value(found->second);
}

std::vector<at::Tensor> NodeRun::outputs() {
  while (!is_done()) advance();
  return caller_outputs(state_->graph, state_->run.outputs());
}

std::vector<at::Tensor> run_program(const Case& graph_case, const ValueObserver& observer,
                                    const std::vector<bool>& left_out) {
  NodeRun run(graph_case,
              {.unsupported = left_out.empty() ? Unsupported::kRefuse : Unsupported::kKeep});
  const Program& program = *graph_case.program;
  const auto tell = [&](ValueId id) {
    if (observer) observer(program[id].name, run.current(id));
  };
  for (const GraphInput& input : program.inputs) {
    const bool is_read = run.graph().values[input.value].is_read;
    if (is_read || input.kind == InputKind::kUserInput) tell(input.value);
  }
  while (!run.is_done()) {
    const size_t node = run.next_node();
    if (!left_out.empty() && left_out[node]) {
      run.skip();
      continue;
    }
    run.advance();
    for (const ValueId output : program.nodes[node].outputs) tell(output);
  }
  return run.outputs();
}

}  // namespace torch_ir
