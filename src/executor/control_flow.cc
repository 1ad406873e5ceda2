#include "torch_ir/executor/control_flow.h"

#include <algorithm>
#include <utility>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

bool decides_true(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().item<bool>();
  if (value.isBool()) return value.toBool();
  throw ExecutionError("a bool has to decide, not " + value.tagKind());
}

void run_cond(const std::vector<Program>& programs, Stack& stack, ProgramRunner run_program) {
  const bool is_true = decides_true(stack.at(0));
  // A copy, so that a failure can still say what the arguments were.
  Stack operands(stack.begin() + 1, stack.end());
  stack = run_program(programs[is_true ? 0 : 1], std::move(operands));
}

void run_while_loop(const std::vector<Program>& programs, Stack& stack, ProgramRunner run_program) {
  const Program& condition = programs[0];
  const Program& body = programs[1];
  const size_t num_carried = body.outputs.size();
  while (decides_true(run_program(condition, stack).at(0))) {
    Stack carried = run_program(body, stack);
    std::ranges::move(carried, stack.begin());
  }
  stack.resize(num_carried);
}

}  // namespace

void run_control_flow(const ControlFlowCall& call, Stack& stack, ProgramRunner run_program) {
  const auto run = call.kind == ControlFlow::kCond ? run_cond : run_while_loop;
  run(call.programs, stack, run_program);
}

}  // namespace torch_ir
