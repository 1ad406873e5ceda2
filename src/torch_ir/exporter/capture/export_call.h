// export_call: exports one operator call as a program.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

struct ExportedCall {
  Program program;
  // One for each input of the program: the distinct tensors among the arguments.
  std::vector<at::Tensor> inputs;
  // The eager results, numbers as tensors without dimensions.
  std::vector<at::Tensor> outputs;
};

// Calls `op` on `arguments`, one for each of its schema, by the dispatcher. Inputs are named after
// the arguments, with a position for tensors of a list ("tensors_0"). Throws ExportError for
// results that are neither tensors nor numbers, and whatever the operator throws.
ExportedCall export_call(const c10::OperatorHandle& op, const torch::jit::Stack& arguments);

}  // namespace torch_ir
