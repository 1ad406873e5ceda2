// MetaCall: the arguments of one operator call on meta tensors, by name, and the way its results
// are handed back.
//
// What shape rules (meta_rules.h) are written against. Names are those of the operator's schema, so
// one rule serves the functional and the out form of an operator.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace torch_ir {

using Sizes = std::vector<int64_t>;

class MetaCall {
 public:
  // Refers to both, which must outlive it.
  MetaCall(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments)
      : op_(op), arguments_(arguments) {}

  const c10::OperatorHandle& op() const { return op_; }
  c10::ArrayRef<c10::IValue> arguments() const { return arguments_; }

  // Whether the operator has such an argument and it is not None.
  bool has(std::string_view name) const;

  // The arguments; throw when the operator has none of that name.
  at::Tensor tensor(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  bool boolean(std::string_view name) const;
  // A single integer counts as a list of one; None as an empty list.
  Sizes integers(std::string_view name) const;
  // The list, a list of one repeated to `count` elements, as the kernels read `int[2] padding`. An
  // empty list gives `count` times `fallback`.
  Sizes integers(std::string_view name, size_t count, int64_t fallback = 0) const;

  // The defined tensors that are read, in order, those in lists included; `out` arguments are not.
  std::vector<at::Tensor> inputs() const;

 private:
  const c10::IValue* find(std::string_view name) const;
  const c10::IValue& get(std::string_view name) const;

  const c10::OperatorHandle& op_;
  c10::ArrayRef<c10::IValue> arguments_;
};

// Turns the results that a rule computed for the functional form of the operator into those of
// this form: an out operator returns its out argument, resized.
torch::jit::Stack deliver(const MetaCall& call, const std::vector<at::Tensor>& results);

// A tensor without data.
at::Tensor meta_tensor(c10::IntArrayRef sizes, c10::ScalarType dtype,
                       c10::MemoryFormat format = c10::MemoryFormat::Contiguous);

// A tensor without data, laid out as empty_like would for `source`.
at::Tensor meta_like(const at::Tensor& source, std::optional<c10::ScalarType> dtype = std::nullopt);

}  // namespace torch_ir
