#include "torch_ir/ir/testing/test_graphs.h"

#include <cstdlib>

#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

TensorMeta value(const std::string& name, Shape shape, const std::string& dtype = "float32") {
  return {.name = name, .shape = std::move(shape), .dtype = dtype};
}

// The graph of the model's report, without constants.
IR reference_graph(const std::string& model) {
  const std::string root =
      std::string(std::getenv("TEST_SRCDIR")) + "/" + std::getenv("TEST_WORKSPACE");
  IR ir = load_ir(root + "/reports/reference/ir/" + model + ".json");
  ir.pytorch_version = "2.13.0";
  ir.constants = StateDict();
  return ir;
}

}  // namespace

TestGraphBuilder::TestGraphBuilder(std::string model_name) {
  ir_.model_name = std::move(model_name);
  ir_.pytorch_version = "2.13.0";
}

TestGraphBuilder& TestGraphBuilder::input(const std::string& name, Shape shape) {
  TensorMeta meta = value(name, std::move(shape));
  meta.producer_node = name;
  ir_.graph_inputs.push_back(meta);
  values_[name] = std::move(meta);
  return *this;
}

TestGraphBuilder& TestGraphBuilder::weight(const std::string& placeholder, const std::string& name,
                                           Shape shape, const std::string& dtype) {
  TensorMeta meta = value(name, std::move(shape), dtype);
  ir_.weights.push_back(meta);
  ir_.weight_name_mapping.insert(placeholder, name);
  meta.name = placeholder;
  values_[placeholder] = std::move(meta);
  return *this;
}

OpNode& TestGraphBuilder::add_node(const std::string& name, const std::string& op_type,
                                   const std::vector<std::string>& inputs, AttributeMap attrs) {
  OpNode& node = ir_.nodes.emplace_back();
  node.name = name;
  node.op_type = op_type;
  node.attrs = std::move(attrs);
  for (const std::string& value : inputs) node.inputs.push_back(values_.at(value));
  return node;
}

TestGraphBuilder& TestGraphBuilder::op(const std::string& name, const std::string& op_type,
                                       const std::vector<std::string>& inputs, Shape shape,
                                       AttributeMap attrs) {
  OpNode& node = add_node(name, op_type, inputs, std::move(attrs));
  TensorMeta meta = value(name, std::move(shape));
  node.outputs.push_back(meta);
  meta.producer_node = name;
  values_[name] = std::move(meta);
  return *this;
}

TestGraphBuilder& TestGraphBuilder::multi_op(const std::string& name, const std::string& op_type,
                                             const std::vector<std::string>& inputs,
                                             const std::vector<Shape>& shapes, AttributeMap attrs) {
  OpNode& node = add_node(name, op_type, inputs, std::move(attrs));
  for (size_t i = 0; i < shapes.size(); ++i) {
    TensorMeta meta = value(name + "_" + std::to_string(i), shapes[i]);
    node.outputs.push_back(meta);
    meta.producer_node = name;
    meta.producer_output_idx = static_cast<int64_t>(i);
    values_[meta.name] = std::move(meta);
  }
  return *this;
}

TestGraphBuilder& TestGraphBuilder::output(const std::string& name) {
  TensorMeta meta = values_.at(name);
  meta.producer_node.reset();
  meta.producer_output_idx = 0;
  ir_.graph_outputs.push_back(std::move(meta));
  return *this;
}

IR chain_of(const std::vector<ChainNode>& nodes) {
  TestGraphBuilder graph("Chain");
  graph.input("x", {4});
  std::string last = "x";
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::string> inputs = {last};
    if (!nodes[i].weight.empty()) {
      inputs.push_back("p_" + nodes[i].weight);
      graph.weight(inputs.back(), nodes[i].weight, {4});
    }
    last = "n" + std::to_string(i);
    graph.op(last, nodes[i].op_type, inputs, {4});
  }
  IR ir = graph.output(last).build();
  for (size_t i = 0; i < nodes.size(); ++i) ir.nodes[i].module = nodes[i].module;
  return ir;
}

IR masked_linear_graph() { return reference_graph("MaskedLinear"); }
IR gather_with_index_graph() { return reference_graph("GatherWithIndex"); }
IR buffer_vs_constant_graph() { return reference_graph("BufferVsConstant"); }
IR transformer_block_graph() { return reference_graph("TransformerBlock"); }
IR deep_resnet_graph() { return reference_graph("DeepResNet"); }

}  // namespace torch_ir
