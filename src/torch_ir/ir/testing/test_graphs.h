// Graphs for tests: a builder, values and nodes without one, and the graphs that the project's
// specification prints.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

using Shape = std::vector<int64_t>;

TensorMeta meta(std::string name, Shape shape, std::string dtype = "float32");
// A tensor whose sizes are numbers or expressions.
TensorMeta dynamic(std::string name, const std::vector<std::string>& sizes,
                   std::string dtype = "float32");
TensorMeta number(std::string name, std::string dtype = "int64", std::string expression = "");
TensorMeta made_by(TensorMeta tensor, std::string producer, int64_t index = 0);
OpNode node(std::string name, std::string op_type, std::vector<TensorMeta> inputs,
            std::vector<TensorMeta> outputs, AttributeMap attrs = {});

// A node with attributes of every type, and an input that names its argument, as version 1 allows.
IR extended_ir();

// The texts of graphs and nodes in the IR file.
std::string ir_text(const std::string& node, const std::string& rest = "");
std::string node_text(const std::string& input, const std::string& rest = "");

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
