#include "torch_ir/ir/testing/test_graphs.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/complex.h>

#include <complex>
#include <cstdlib>
#include <limits>

#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

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

TensorMeta meta(std::string name, Shape shape, std::string dtype) {
  return {.name = std::move(name), .shape = std::move(shape), .dtype = std::move(dtype)};
}

TensorMeta dynamic(std::string name, const std::vector<std::string>& sizes, std::string dtype) {
  TensorMeta tensor = meta(std::move(name), {}, std::move(dtype));
  for (const std::string& size : sizes) {
    const bool is_number = size.find_first_not_of("0123456789") == std::string::npos;
    tensor.shape.push_back(is_number ? std::stoll(size) : kDynamicSize);
    tensor.symbolic_shape.push_back(is_number ? "" : size);
  }
  return tensor;
}

TensorMeta number(std::string name, std::string dtype, std::string expression) {
  TensorMeta value = meta(std::move(name), {}, std::move(dtype));
  value.is_scalar = true;
  value.expression = std::move(expression);
  return value;
}

TensorMeta made_by(TensorMeta tensor, std::string producer, int64_t index) {
  tensor.producer_node = std::move(producer);
  tensor.producer_output_idx = index;
  return tensor;
}

OpNode node(std::string name, std::string op_type, std::vector<TensorMeta> inputs,
            std::vector<TensorMeta> outputs, AttributeMap attrs) {
  return {.name = std::move(name),
          .op_type = std::move(op_type),
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attrs = std::move(attrs)};
}

std::string ir_text(const std::string& node, const std::string& rest) {
  return R"({"graph_inputs": [], "graph_outputs": [], "weights": [], "nodes": [)" + node + "]" +
         rest + "}";
}

std::string node_text(const std::string& input, const std::string& rest) {
  return R"({"name": "n", "op_type": "o", "inputs": [)" + input + R"(], "outputs": [])" + rest +
         "}";
}

IR extended_ir() {
  IR ir;
  ir.model_name = "Extended";
  ir.pytorch_version = "2.13.0";
  ir.graph_inputs = {meta("x", {2}), meta("limit", {2})};
  ir.graph_outputs = {meta("clamp", {2})};
  ir.nodes = {
      node("empty", "aten.empty.memory_format", {}, {meta("empty", {1, 2, 3, 4}, "bfloat16")},
           {{"size", Attribute::list({1, 2, 3, 4})},
            {"dtype", c10::kBFloat16},
            {"layout", c10::kStrided},
            {"device", c10::Device(c10::kCPU)},
            {"pin_memory", false},
            {"memory_format", c10::MemoryFormat::ChannelsLast}}),
      node("full", "aten.full.default", {}, {meta("full", {}, "complex128")},
           {{"size", Attribute::list({})},
            {"fill_value", std::complex<double>(0.5, -std::numeric_limits<double>::infinity())},
            {"device", c10::Device(c10::kCUDA, 1)}}),
      node("clamp", "aten.clamp.Tensor",
           {made_by(meta("x", {2}), "x"), made_by(meta("limit", {2}), "limit")},
           {meta("clamp", {2})})};
  ir.nodes[2].inputs[1].arg = "max";
  ir.weights = {meta("c", {0, 2}, "bfloat16"), meta("z", {2}, "complex64")};
  ir.weights[1].strides = {3};
  ir.weights[1].requires_grad = true;
  ir.weight_name_mapping.insert("c_c", "c");
  ir.weight_name_mapping.insert("c_z", "z");
  ir.tied_weights = {{"z", "other"}};
  ir.state = {"c_z", "x"};
  ir.constants.insert("c", at::empty({0, 2}, at::kBFloat16));
  ir.constants.insert("z", at::tensor({c10::complex<float>(0.1f, 0), c10::complex<float>(0, -1)}));
  return ir;
}

TestGraphBuilder::TestGraphBuilder(std::string model_name) {
  ir_.model_name = std::move(model_name);
  ir_.pytorch_version = "2.13.0";
}

TestGraphBuilder& TestGraphBuilder::input(const std::string& name, Shape shape) {
  ir_.graph_inputs.push_back(made_by(meta(name, std::move(shape)), name));
  values_[name] = ir_.graph_inputs.back();
  return *this;
}

TestGraphBuilder& TestGraphBuilder::weight(const std::string& placeholder, const std::string& name,
                                           Shape shape, const std::string& dtype) {
  ir_.weights.push_back(meta(name, shape, dtype));
  ir_.weight_name_mapping.insert(placeholder, name);
  values_[placeholder] = meta(placeholder, std::move(shape), dtype);
  return *this;
}

OpNode& TestGraphBuilder::add_node(const std::string& name, const std::string& op_type,
                                   const std::vector<std::string>& inputs, AttributeMap attrs) {
  std::vector<TensorMeta> values;
  for (const std::string& value : inputs) values.push_back(values_.at(value));
  return ir_.nodes.emplace_back(node(name, op_type, std::move(values), {}, std::move(attrs)));
}

TestGraphBuilder& TestGraphBuilder::op(const std::string& name, const std::string& op_type,
                                       const std::vector<std::string>& inputs, Shape shape,
                                       AttributeMap attrs) {
  OpNode& node = add_node(name, op_type, inputs, std::move(attrs));
  node.outputs = {meta(name, std::move(shape))};
  values_[name] = made_by(node.outputs[0], name);
  return *this;
}

TestGraphBuilder& TestGraphBuilder::multi_op(const std::string& name, const std::string& op_type,
                                             const std::vector<std::string>& inputs,
                                             const std::vector<Shape>& shapes, AttributeMap attrs) {
  OpNode& node = add_node(name, op_type, inputs, std::move(attrs));
  for (size_t i = 0; i < shapes.size(); ++i) {
    node.outputs.push_back(meta(name + "_" + std::to_string(i), shapes[i]));
    const TensorMeta& output = node.outputs.back();
    values_[output.name] = made_by(output, name, static_cast<int64_t>(i));
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
