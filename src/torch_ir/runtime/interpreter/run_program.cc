#include "torch_ir/runtime/interpreter/run_program.h"

#include <memory>

#include "torch_ir/runtime/graph/lowered_graph.h"
#include "torch_ir/runtime/interpreter/run.h"

namespace torch_ir {
namespace {

// The value of the running graph as a tensor; undefined for None and unread constants.
at::Tensor tensor_of(const LoweredGraph& graph, const StepRun& run, ValueId id) {
  const LoweredValue& value = graph.values[id];
  if (value.is_fixed()) return value.constant;
  if (run.value(id).isNone()) return {};
  return as_tensor(run.value(id), value.declared->dtype);
}

}  // namespace

std::vector<at::Tensor> run_program(const Program& program, const StateDict& weights,
                                    const std::vector<at::Tensor>& inputs,
                                    const ValueObserver& observer,
                                    const std::vector<bool>& left_out) {
  // Not owned: the caller's program outlives the run.
  const std::shared_ptr<const Program> shared(std::shared_ptr<void>(), &program);
  const LoweredGraph graph = lower(shared, weights, StateDict(), std::nullopt,
                                   left_out.empty() ? Unsupported::kRefuse : Unsupported::kKeep);
  const PlainKernelsGuard guard;
  StepRun run(graph, input_values(graph, inputs), /*symbols=*/nullptr);
  const auto tell = [&](ValueId id) {
    if (observer) observer(program[id].name, tensor_of(graph, run, id));
  };
  for (const GraphInput& input : program.inputs) {
    if (graph.values[input.value].is_read || input.kind == InputKind::kUserInput) tell(input.value);
  }
  while (!run.is_done()) {
    const size_t step = run.next_step();
    if (!left_out.empty() && left_out[step]) {
      run.skip_to(step + 1);
      continue;
    }
    run.advance();
    for (const ValueId output : program.nodes[step].outputs) tell(output);
  }
  std::vector<at::Tensor> outputs;
  for (const ValueId output : program.outputs) outputs.push_back(tensor_of(graph, run, output));
  return outputs;
}

}  // namespace torch_ir
