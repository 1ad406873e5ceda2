// find_formula: the formulas for multiply-adds (cost.h), by operator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// A number that may be unknown, which makes results unknown too: a dynamic size, or a value beyond
// 64 bits.
class Count {
 public:
  Count(int64_t value) : value_(value) {}
  static Count unknown() { return Count(std::nullopt); }

  std::optional<int64_t> value() const { return value_; }

  friend Count operator*(const Count& a, const Count& b);
  friend Count operator+(const Count& a, const Count& b);
  friend Count operator/(const Count& a, const Count& b);

 private:
  explicit Count(std::optional<int64_t> value) : value_(value) {}

  std::optional<int64_t> value_;
};

Count count_elements(const TensorMeta& meta);

class NodeCall {
 public:
  NodeCall(const OpNode& node, const c10::FunctionSchema& schema,
           const std::vector<BoundArgument>& arguments)
      : node_(node), schema_(schema), arguments_(arguments) {}

  const OpNode& node() const { return node_; }

  // Null if the argument is missing or of another kind.
  template <class Kind>
  const Kind* find(std::string_view argument) const {
    const auto& arguments = schema_.arguments();
    const auto found = std::ranges::find(arguments, argument, &c10::Argument::name);
    if (found == arguments.end()) return nullptr;
    return std::get_if<Kind>(&arguments_.at(static_cast<size_t>(found - arguments.begin())));
  }

 private:
  const OpNode& node_;
  const c10::FunctionSchema& schema_;
  const std::vector<BoundArgument>& arguments_;
};

using MultiplyAdds = Count (*)(const NodeCall&);

// The formula of operators without multiply-adds.
Count no_multiply_adds(const NodeCall& call);

// Null for unknown operators.
MultiplyAdds find_formula(std::string_view op_type);

}  // namespace torch_ir
