// Graphs for tests: a builder, and the graphs that the project's specification prints.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

using Shape = std::vector<int64_t>;

// Builds a float32 graph value by value. Add names before using them.
class TestGraphBuilder {
 public:
  explicit TestGraphBuilder(std::string model_name);

  TestGraphBuilder& input(const std::string& name, Shape shape);
  TestGraphBuilder& weight(const std::string& placeholder, const std::string& name, Shape shape,
                           const std::string& dtype = "float32");
  TestGraphBuilder& op(const std::string& name, const std::string& op_type,
                       const std::vector<std::string>& inputs, Shape shape,
                       AttributeMap attrs = {});
  // Its outputs, one per shape, are called "NAME_0", "NAME_1", ...
  TestGraphBuilder& multi_op(const std::string& name, const std::string& op_type,
                             const std::vector<std::string>& inputs,
                             const std::vector<Shape>& shapes, AttributeMap attrs = {});
  TestGraphBuilder& output(const std::string& name);

  IR build() const { return ir_; }

 private:
  OpNode& add_node(const std::string& name, const std::string& op_type,
                   const std::vector<std::string>& inputs, AttributeMap attrs);

  IR ir_;
  std::unordered_map<std::string, TensorMeta> values_;
};

struct ChainNode {
  std::string op_type;
  std::string module = {};
  // The name of a weight that it reads; empty for none.
  std::string weight = {};
};

// Nodes "n0", "n1", ..., each of which reads the value before it.
IR chain_of(const std::vector<ChainNode>& nodes);

IR masked_linear_graph();
IR gather_with_index_graph();
IR buffer_vs_constant_graph();
IR transformer_block_graph();
IR deep_resnet_graph();

}  // namespace torch_ir
