// A case, called: what it is given, its graph of one node, and what eager LibTorch gives for it.
//
// Without capture, which writes some calls as Python does (`add.Scalar` becomes `add.Tensor`) and
// refuses others (training mode): the node calls the very operator of the case.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/registry/operator_case.h"

namespace torch_ir {

struct OperatorCall {
  std::vector<c10::IValue> arguments;
  // The tensors among the arguments, those in lists too.
  std::vector<at::Tensor> inputs;
  // The tensors among the results; numbers are tensors without dimensions.
  std::vector<at::Tensor> outputs;
  // Inputs called as the arguments ("self", "tensors_0"); one node, "call"; all its outputs.
  IR ir;
};

// Calls the operator of `operator_case` eagerly. Throws Error where there is none of its name, and
// c10::Error where it fails.
OperatorCall call_operator(const OperatorCase& operator_case);

}  // namespace torch_ir
