// The shape rules, which compute the results of operators without a Meta kernel from shapes alone.
//
// They cover operators that models call on large tensors, where the CPU would take time and memory,
// and those that reject zeros. Sizes, strides and dtype are those of the CPU kernel;
// models/operators/meta_kernels_test.cc compares them on all operator cases. A rule reads its
// arguments by name from a MetaCall, so it serves the functional and the out form of an operator.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "torch_ir/operators/named_arguments.h"

namespace torch_ir {

using Sizes = std::vector<int64_t>;

class MetaCall : public NamedArguments {
 public:
  // `op` and `arguments` must outlive it.
  MetaCall(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments)
      : NamedArguments(op.schema(), arguments), op_(op) {}

  const c10::OperatorHandle& op() const { return op_; }

  // A single integer counts as a list of one, None as an empty list.
  Sizes integers(const char* name) const;
  // `count` integers, repeating a list of one, as kernels read `int[2] padding`. An empty list
  // gives `count` times `fallback`.
  Sizes integers(const char* name, size_t count, int64_t fallback = 0) const;

  // The defined tensors that are read, in order, with lists flattened and without `out` arguments.
  std::vector<at::Tensor> inputs() const;

 private:
  const c10::OperatorHandle& op_;
};

// Turns the results of the functional form into those of this form: an out operator returns its out
// argument, resized.
torch::jit::Stack deliver(const MetaCall& call, const std::vector<at::Tensor>& results);

using MetaRule = std::vector<at::Tensor> (*)(const MetaCall&);

// The rule that a row of operator_facts.txt names; null for an empty name.
MetaRule find_meta_rule(std::string_view name);

}  // namespace torch_ir
