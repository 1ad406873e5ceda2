// EagerGraph: for tests, an IR recorded while its operators run eagerly.
//
// Each call runs at once, by the dispatcher, on values given by the test, and becomes a node. What
// the plan of the IR computes is then compared with what the calls computed, bit for bit.
#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// A value of the graph, by name.
struct V {
  std::string name;
};
using VList = std::vector<std::optional<V>>;

// An argument of a call: left at its default, a value, a list of values, anything else.
using EagerArgument = std::variant<std::monostate, V, VList, Attribute>;

class EagerGraph {
 public:
  V input(const std::string& name, const at::Tensor& tensor);
  // Its placeholder is "p_" and the name.
  V weight(const std::string& name, const at::Tensor& tensor);

  // Calls the operator with one argument for each of its schema's; those left out at the end are at
  // their defaults. The nodes are named "n0", "n1", ...
  std::vector<V> call(const std::string& op_type, std::vector<EagerArgument> arguments);
  // For an operator with one output.
  V call1(const std::string& op_type, std::vector<EagerArgument> arguments);

  void output(const V& value);

  const at::Tensor& value(const V& value) const { return values_.at(value.name); }
  // What the outputs are after all calls.
  std::vector<at::Tensor> expected() const;

  // The graph, and what to compile and run it with: as the test gave it, whatever the calls wrote.
  IR ir;
  StateDict weights = StateDict();
  std::vector<at::Tensor> inputs;

 private:
  void define(const TensorMeta& meta, const at::Tensor& tensor);
  TensorMeta use(const V& value) const;

  std::unordered_map<std::string, at::Tensor> values_;
  std::unordered_map<std::string, TensorMeta> metas_;
};

// Whether shape, dtype and every bit of every element are equal.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

// Compiles and runs `graph` twice, and says what differs from what the calls computed, and which
// inputs or weights changed; empty when nothing does.
std::string difference_from_eager(const EagerGraph& graph);

}  // namespace torch_ir
