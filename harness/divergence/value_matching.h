// match_values: matches the tensors of a float graph with those of its quantised model.
//
// The rules, where the module of a node is its innermost one; unless both graphs record module
// paths, all nodes count as those of one module:
// - The k-th call of an operator in a module matches the k-th one of that module in the other graph
//   if both have equally many. In-place operators count like others.
// - The last value of a module's call matches the last one of its shape in the other graph, because
//   a layer that became several operators still computes the same tensor.
// - A batch norm that the quantised graph lacks is folded into the node before it: that node
//   computes what the batch norm did.
// - A graph input matches the one at the same position.
// Integers are left out, and so are views, dropouts and graph inputs that are not quantised and
// dequantised.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/python_operators/quantized.h"

namespace torch_ir {

struct ValueMatch {
  std::string floating = {};
  std::string op_type = {};
  std::string module = {};
  // The value of the quantised graph, and the result of its first reader that quantises it.
  std::string quantized = {};
  std::string quantized_to = {};
  QuantizedRange range = {};
  // The result of dequantising it; `quantized` if it is not dequantised.
  std::string dequantized = {};

  bool is_dequantized() const { return dequantized != quantized; }
};

struct ValueMatching {
  // In the order of the float graph.
  std::vector<ValueMatch> matches = {};
  std::vector<std::string> unmatched = {};
  int64_t num_folded = 0;
};

ValueMatching match_values(const Program& quantized, const Program& floating);

// Whether two tensors can have one shape; dynamic sizes fit all.
bool shapes_fit(const Value& one, const Value& other);

}  // namespace torch_ir
