// StepRun: one run of a program that advances step by step.
//
// What every run without a replay is: run_steps lets it run to its end, NodeRun from value to
// value.
#pragma once

#include <vector>

#include "torch_ir/executor/graph/program.h"
#include "torch_ir/executor/interpreter/step.h"

namespace torch_ir {

// To be made and advanced under a PlainKernelsGuard.
class StepRun {
 public:
  // One of `inputs` for each input of the program, as input_values gives them. Where `symbols` is
  // given, outputs of steps that are not what the IR says are errors. Program and symbols outlive
  // the run.
  StepRun(const Program& program, const Stack& inputs, SymbolValues* symbols);

  size_t next_step() const { return next_step_; }
  bool is_done() const { return next_step_ == program_.steps.size(); }

  // Runs the next step. Throws ExecutionError, naming the node.
  void advance();

  // Output `index` of the step that ran last; None where the program does not keep it.
  c10::IValue result(size_t index) const;

  // What is in `slot` now: the program's inputs and what it writes to, before the first step.
  const c10::IValue& value(Slot slot) const { return slots_[slot]; }

  // One value for each output of the program, when it is done.
  std::vector<c10::IValue> outputs() const;

 private:
  std::vector<c10::IValue> run_inner(const Program& program, const Stack& inputs) const;
  void check_results() const;
  void check_result(const Step& step, const TensorMeta& meta, const c10::IValue& value) const;

  const Program& program_;
  SymbolValues* const symbols_;
  Slots slots_;
  // Scratch.
  Stack stack_;
  size_t next_step_ = 0;
};

}  // namespace torch_ir
