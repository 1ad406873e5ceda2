#include "torch_ir/runtime/interpreter/node_run.h"

namespace torch_ir {

NodeRun::NodeRun(const Case& graph_case, const NodeRunOptions& options)
    : graph_(lower(graph_case, options.device, options.unsupported)),
      run_(start(graph_case.inputs, options.check)) {}

StepRun NodeRun::start(const std::vector<at::Tensor>& inputs, ResultCheck check) {
  if (check == ResultCheck::kThrow) graph_.differing = nullptr;
  const PlainKernelsGuard guard;
  const Stack values = input_values(graph_, inputs);
  if (!graph_.symbols.empty()) symbols_ = graph_.symbols.bind(values);
  return {graph_, values, check == ResultCheck::kNone ? nullptr : &symbols_};
}

void NodeRun::advance() {
  const PlainKernelsGuard guard;
  run_.advance();
}

at::Tensor NodeRun::current(ValueId value) const {
  const LoweredValue& lowered = graph_.values[value];
  if (lowered.is_fixed()) return lowered.constant;
  return as_tensor(run_.value(value), lowered.declared->dtype);
}

at::Tensor NodeRun::value(ValueId value) {
  const auto producer = (*graph_.source)[value].producer;
  if (!producer) return {};
  while (next_node() <= *producer) advance();
  return next_node() == *producer + 1 ? current(value) : at::Tensor();
}

at::Tensor NodeRun::value(const std::string& name) {
  if (ids_.empty()) ids_ = graph_.source->ids();
  const auto found = ids_.find(name);
  return found == ids_.end() ? at::Tensor() : value(found->second);
}

std::vector<at::Tensor> NodeRun::outputs() {
  while (!is_done()) advance();
  return caller_outputs(graph_, run_.outputs());
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
