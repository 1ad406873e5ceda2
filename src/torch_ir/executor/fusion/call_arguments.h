// CallArguments: the arguments of a call of a trace by the names of the operator's schema.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

class CallArguments {
 public:
  explicit CallArguments(const TraceCall& call) : call_(call) {}

  // Nothing where the argument is None, no tensor, or not in the schema.
  std::optional<TensorId> tensor(std::string_view name) const;
  std::vector<TensorId> tensors(std::string_view name) const;
  // None where it is not in the schema.
  c10::IValue value(std::string_view name) const;
  // The one number that is given for all of `count` dimensions, or as many as are given; `missing`
  // where the schema has no such argument.
  std::vector<int64_t> integers(std::string_view name, size_t count, int64_t missing) const;
  double number(std::string_view name, double missing) const;

 private:
  const TraceArgument* find(std::string_view name) const;

  const TraceCall& call_;
};

}  // namespace torch_ir
