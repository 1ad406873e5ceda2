#include "torch_ir/executor/interpreter/node_run.h"

#include <optional>
#include <string_view>
#include <unordered_map>

#include "torch_ir/executor/graph/bind_weights.h"
#include "torch_ir/executor/graph/build_program.h"
#include "torch_ir/executor/interpreter/run.h"
#include "torch_ir/executor/interpreter/step_run.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

// Where a value comes from: an output of a step.
struct Source {
  size_t step;
  size_t output;
};

// The names are those of `program`.
std::unordered_map<std::string_view, Source> sources_of(const Program& program) {
  std::unordered_map<std::string_view, Source> sources;
  for (size_t step = 0; step < program.steps.size(); ++step) {
    for (size_t i = 0; i < program.steps[step].outputs.size(); ++i) {
      sources.emplace(program.step_outputs[step][i].name, Source{step, i});
    }
  }
  return sources;
}

// Where the run has what it is given, by name. Its weights are those that `ir` is bound to.
std::unordered_map<std::string, Slot> given_slots(const Program& program, const IR& ir,
                                                  const StateDict& weights) {
  std::unordered_map<std::string, Slot> slots;
  for (const ProgramInput& input : program.inputs) slots.emplace(input.meta.name, input.slot);
  if (program.written_constants.empty()) return slots;
  const TensorRegistry bound = bind_weights(ir, weights, StateDict(), program.device).tensors;
  for (const auto& item : ir.weight_name_mapping) {
    const std::optional<at::Tensor> tensor = bound.get(item.key());
    for (const WrittenConstant& constant : program.written_constants) {
      if (tensor && constant.tensor.is_same(*tensor)) slots.emplace(item.key(), constant.slot);
    }
  }
  return slots;
}

StepRun start(const Program& program, const std::vector<at::Tensor>& inputs) {
  const PlainKernelsGuard guard;
  const Stack values = input_values(program, inputs);
  // Checks the sizes that differ from run to run.
  if (!program.symbols.empty()) program.symbols.bind(values);
  return {program, values, /*symbols=*/nullptr};
}

}  // namespace

struct NodeRun::State {
  State(Program built, const IR& ir, const StateDict& weights,
        const std::vector<at::Tensor>& inputs)
      : program(std::move(built)),
        slots(given_slots(program, ir, weights)),
        sources(sources_of(program)),
        run(start(program, inputs)) {}

  const Program program;
  const std::unordered_map<std::string, Slot> slots;
  const std::unordered_map<std::string_view, Source> sources;
  StepRun run;
};

NodeRun::NodeRun(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                 const ExecutionOptions& options)
    : state_(std::make_unique<State>(
          build_program(ir, weights, StateDict(), options, UnreadResults::kKeep), ir, weights,
          inputs)) {}
NodeRun::~NodeRun() = default;

at::Tensor NodeRun::given(const std::string& name) const {
  const auto found = state_->slots.find(name);
  if (found == state_->slots.end() || found->second == kNoSlot) return {};
  const c10::IValue& value = state_->run.value(found->second);
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

at::Tensor NodeRun::value(const std::string& name) {
  const auto found = state_->sources.find(name);
  if (found == state_->sources.end()) return {};
  const auto& [step, output] = found->second;
  StepRun& run = state_->run;
  {
    const PlainKernelsGuard guard;
    while (run.next_step() <= step) run.advance();
  }
  if (run.next_step() != step + 1) return {};
  const c10::IValue value = run.result(output);
  if (value.isNone()) return {};
  return as_tensor(value, parse_dtype(state_->program.step_outputs[step][output].dtype));
}

}  // namespace torch_ir
