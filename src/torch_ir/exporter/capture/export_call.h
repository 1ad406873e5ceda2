// export_call: one call of an operator as an exported program.
//
// For the cases of operators, where there is no model to capture: the tensors of the call are the
// inputs of the program, and what it returns, numbers too, its outputs.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <vector>

#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

struct ExportedCall {
  ExportedProgram program;
  // One for each input of the program: each tensor among the arguments, once.
  std::vector<at::Tensor> inputs;
  // One for each output: what the operator computed, numbers as tensors without dimensions.
  std::vector<at::Tensor> outputs;
};

// Calls `op` on `arguments`, one for each of its schema, by the dispatcher. Inputs are named as the
// arguments are, tensors of a list with their position behind ("tensors_0"). Throws ExportError
// for results that are no tensors and no numbers, and what the operator throws.
ExportedCall export_call(const c10::OperatorHandle& op, const torch::jit::Stack& arguments);

}  // namespace torch_ir
