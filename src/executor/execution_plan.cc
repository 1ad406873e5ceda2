#include "torch_ir/executor/execution_plan.h"

#include <utility>

#include "torch_ir/executor/bind_weights.h"
#include "torch_ir/executor/graph.h"
#include "torch_ir/executor/lower.h"
#include "torch_ir/executor/program.h"
#include "torch_ir/executor/run.h"
#include "torch_ir/ir/validate.h"

namespace torch_ir {

struct ExecutionPlan::State {
  Program program;
};

ExecutionPlan::ExecutionPlan(std::unique_ptr<const State> state) : state_(std::move(state)) {}
ExecutionPlan::ExecutionPlan(ExecutionPlan&&) noexcept = default;
ExecutionPlan& ExecutionPlan::operator=(ExecutionPlan&&) noexcept = default;
ExecutionPlan::~ExecutionPlan() = default;

std::vector<at::Tensor> ExecutionPlan::run(const std::vector<at::Tensor>& inputs) const {
  return run_program(state_->program, inputs);
}

std::vector<at::Tensor> ExecutionPlan::run_checked(const std::vector<at::Tensor>& inputs) const {
  return run_program_checked(state_->program, inputs);
}

void ExecutionPlan::run(const std::vector<at::Tensor>& inputs,
                        std::vector<at::Tensor>& outputs) const {
  outputs.clear();
  outputs = run(inputs);
}

ExecutionPlan compile(const IR& ir, const StateDict& weights, const StateDict& constants,
                      const ExecutionOptions& /*options*/) {
  validate_ir(ir);
  const BoundWeights bound = bind_weights(ir, weights, constants);
  Program program = lower(build_graph(ir, bound), ir.range_constraints);
  return ExecutionPlan(
      std::make_unique<const ExecutionPlan::State>(ExecutionPlan::State{std::move(program)}));
}

}  // namespace torch_ir
