// find_formula: the formulas for multiply-adds (cost.h), by operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "torch_ir/ir/program.h"

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

Count count_elements(const Value& value);

// A node with the graph that has its values.
struct NodeCall {
  const Graph& graph;
  const Node& node;
};

using MultiplyAdds = Count (*)(const NodeCall&);

// The formula of operators without multiply-adds.
Count no_multiply_adds(const NodeCall& call);

// Null for unknown operators.
MultiplyAdds find_formula(std::string_view op_type);

}  // namespace torch_ir
