// Properties of operators that follow from their facts (operator_facts.h), schemas, tags and
// kernels.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>

namespace torch_ir {

// Whether its kernel for the CPU may only call other operators.
bool may_be_composite(const c10::OperatorHandle& op);

// Whether values of this type are or contain tensors.
bool holds_tensors(const c10::TypePtr& type);

// Whether all results are annotated as views of arguments.
bool is_view(const c10::FunctionSchema& schema);

// Whether the shape of its results, or a number that it returns, depends on the data of its inputs:
// always, or unless an argument gives it (repeat_interleave, one_hot).
bool may_depend_on_data(const c10::OperatorHandle& op);

// As above, for one call that is seen with all its nested calls.
bool depends_on_data(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments);

// Why a graph from a file must not run `op_type` ("it maps or creates a file"); empty for all
// operators that compute.
std::string refusal(std::string_view op_type);

// Whether a node of `op_type` may draw random numbers.
bool may_draw(std::string_view op_type);

struct OperatorSupport {
  bool is_supported;
  // "kernel for CPU", "composite of other operators", "unknown to LibTorch 2.13.0".
  std::string description;
  // Whether a plan replays its calls: "yes", "unless it draws random numbers"; empty if it is not
  // supported.
  std::string replayed;
};

OperatorSupport operator_support(const std::string& op_type);

}  // namespace torch_ir
