// The operator table: what is known of operators beside their schema.
//
// One row an operator, in operator_table.cc; these functions ask it. Nobody else lists
// operators for what they are.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <string_view>

namespace torch_ir {

// Whether its kernel for the CPU may do nothing but call other operators.
bool may_be_composite(const c10::OperatorHandle& op);

// Whether its result is memory with no values in it.
bool makes_empty(const c10::OperatorHandle& op);

// Whether it gives a tensor other memory.
bool changes_memory(const c10::OperatorHandle& op);

// Whether its results may share the memory of arguments that the schema says nothing about.
bool may_share_silently(const c10::OperatorHandle& op);

// The argument that must be true for it to update running statistics, which its schema does not
// say; empty where it always does, nothing where it never does.
std::optional<std::string_view> statistics_condition(const c10::OperatorHandle& op);

// Whether it only asks about shape, dtype and the like.
bool asks_about_metadata(const c10::OperatorHandle& op);

// Whether the shape of its results, or a number that it gives, is in the data of its inputs:
// always, or unless an argument says it (repeat_interleave, one_hot). There is no data on the meta
// device.
bool may_depend_on_data(const c10::OperatorHandle& op);

// The same of one call that is seen with all that it calls inside.
bool depends_on_data(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments);

// Why a graph from a file must not run `op_type` ("it maps or creates a file"), whatever LibTorch
// has; empty for all operators that compute.
std::string refusal(std::string_view op_type);

struct OperatorSupport {
  bool is_supported;
  // "kernel for CPU", "composite of other operators", "unknown to LibTorch 2.13.0".
  std::string description;
  // Whether a plan replays its calls: "yes", "unless it draws random numbers"; empty where it is
  // not supported.
  std::string replayed;
};

// What compile() and a run would make of a node of `op_type`, on the CPU.
OperatorSupport operator_support(const std::string& op_type);

}  // namespace torch_ir
