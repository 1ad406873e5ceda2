// The shape rules: what operators without a Meta kernel return, computed from the shapes of their
// arguments alone.
//
// For operators that models meet on large tensors, where running them on the CPU would take time
// and memory, and for those that reject zeros. One line an operator. Sizes, strides and dtype are
// those of the CPU kernel. meta_kernels.cc registers them. They are written against MetaCall, the
// arguments of one call by name: one rule serves the functional and the out form of an operator.
// models/operators/meta_kernels_test.cc compares them with the CPU kernels on all operator cases.
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
  // Refers to both, which must outlive it.
  MetaCall(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments)
      : NamedArguments(op.schema(), arguments), op_(op), arguments_(arguments) {}

  const c10::OperatorHandle& op() const { return op_; }
  c10::ArrayRef<c10::IValue> arguments() const { return arguments_; }

  double real(const char* name) const { return at(name).toDouble(); }
  // A single integer counts as a list of one; None as an empty list.
  Sizes integers(const char* name) const;
  // The list, a list of one repeated to `count` elements, as the kernels read `int[2] padding`. An
  // empty list gives `count` times `fallback`.
  Sizes integers(const char* name, size_t count, int64_t fallback = 0) const;

  // The defined tensors that are read, in order, those in lists included; `out` arguments are not.
  std::vector<at::Tensor> inputs() const;

 private:
  const c10::OperatorHandle& op_;
  c10::ArrayRef<c10::IValue> arguments_;
};

// Turns the results that a rule computed for the functional form of the operator into those of
// this form: an out operator returns its out argument, resized.
torch::jit::Stack deliver(const MetaCall& call, const std::vector<at::Tensor>& results);

// The results of the functional form of the operator, as meta tensors.
using MetaRule = std::vector<at::Tensor> (*)(const MetaCall&);

// What a rule does with an operator that is composed of others: keep that, or replace it where the
// composition does not work on meta tensors or gives other results than the CPU kernel.
enum class Composite { kKeep, kReplace };

struct NamedMetaRule {
  // Of the operator, for all its overloads: "relu".
  std::string_view name;
  // Null for running it on the CPU, as operators without a rule are.
  MetaRule rule;
  Composite composite = Composite::kKeep;
};

// Sorted by name.
c10::ArrayRef<NamedMetaRule> meta_rules();

}  // namespace torch_ir
