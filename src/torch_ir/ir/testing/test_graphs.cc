#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

TensorMeta value(const std::string& name, Shape shape, const std::string& dtype = "float32") {
  TensorMeta meta;
  meta.name = name;
  meta.shape = std::move(shape);
  meta.dtype = dtype;
  return meta;
}

std::string placeholder(const std::string& prefix, std::string name) {
  for (char& c : name) {
    if (c == '.') c = '_';
  }
  return prefix + name;
}

// A node that takes `x` and the weight and bias of `layer`.
void layer_op(TestGraphBuilder& graph, const std::string& node, const std::string& op_type,
              const std::string& x, const std::string& layer, Shape weight_shape, Shape bias_shape,
              Shape shape, AttributeMap attrs = {}) {
  const std::string weight = placeholder("p_", layer + ".weight");
  const std::string bias = placeholder("p_", layer + ".bias");
  graph.weight(weight, layer + ".weight", std::move(weight_shape));
  graph.weight(bias, layer + ".bias", std::move(bias_shape));
  graph.op(node, op_type, {x, weight, bias}, std::move(shape), std::move(attrs));
}

void linear(TestGraphBuilder& graph, const std::string& node, const std::string& x,
            const std::string& layer, int64_t in, int64_t out, Shape shape) {
  layer_op(graph, node, "aten.linear.default", x, layer, {out, in}, {out}, std::move(shape));
}

void layer_norm(TestGraphBuilder& graph, const std::string& node, const std::string& x,
                const std::string& layer, int64_t size, Shape shape) {
  layer_op(graph, node, "aten.layer_norm.default", x, layer, {size}, {size}, std::move(shape),
           {{"normalized_shape", Attribute::list({size})}});
}

// A 3x3 convolution and the batch norm behind it, numbered as the n-th of the graph.
std::string conv_bn(TestGraphBuilder& graph, int64_t n, const std::string& x,
                    const std::string& conv, const std::string& bn, int64_t in) {
  const std::string suffix = n == 0 ? "" : "_" + std::to_string(n);
  const Shape shape = {1, 32, 32, 32};
  layer_op(graph, "conv2d" + suffix, "aten.conv2d.default", x, conv, {32, in, 3, 3}, {32}, shape,
           {{"stride", Attribute::list({1, 1})}, {"padding", Attribute::list({1, 1})}});
  std::vector<std::string> inputs = {"conv2d" + suffix};
  for (const char* name : {".weight", ".bias"}) {
    inputs.push_back(placeholder("p_", bn + name));
    graph.weight(inputs.back(), bn + name, {32});
  }
  for (const char* name : {".running_mean", ".running_var"}) {
    inputs.push_back(placeholder("b_", bn + name));
    graph.weight(inputs.back(), bn + name, {32});
  }
  graph.weight(placeholder("b_", bn + ".num_batches_tracked"), bn + ".num_batches_tracked", {},
               "int64");
  graph.op("batch_norm" + suffix, "aten.batch_norm.default", inputs, shape,
           {{"training", false}, {"momentum", 0.1}, {"eps", 1e-5}, {"cudnn_enabled", true}});
  return "batch_norm" + suffix;
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

IR masked_linear_graph() {
  TestGraphBuilder graph("MaskedLinear");
  graph.input("x", {1, 4});
  linear(graph, "linear", "x", "linear", 4, 4, {1, 4});
  graph.weight("c_mask", "mask", {4});
  graph.op("mul", "aten.mul.Tensor", {"linear", "c_mask"}, {1, 4});
  return graph.output("mul").build();
}

IR gather_with_index_graph() {
  TestGraphBuilder graph("GatherWithIndex");
  graph.input("x", {1, 8});
  linear(graph, "linear", "x", "linear", 8, 8, {1, 8});
  graph.weight("c_indices", "indices", {4}, "int64");
  graph.op("index", "aten.index.Tensor", {"linear", "c_indices"}, {1, 4},
           {{"_tensor_list_sizes", Attribute::list({1})},
            {"_tensor_list_none_masks", Attribute::list({Attribute::list({true, false})})}});
  return graph.output("index").build();
}

IR buffer_vs_constant_graph() {
  TestGraphBuilder graph("BufferVsConstant");
  graph.input("x", {1, 4});
  linear(graph, "linear", "x", "linear", 4, 4, {1, 4});
  graph.weight("b_scale", "scale", {4});
  graph.op("mul", "aten.mul.Tensor", {"linear", "b_scale"}, {1, 4});
  graph.weight("c_offset", "offset", {4});
  graph.op("add", "aten.add.Tensor", {"mul", "c_offset"}, {1, 4});
  return graph.output("add").build();
}

IR transformer_block_graph() {
  const Shape tokens = {1, 16, 64};
  const Shape by_token = {1, 16, 4, 16};
  const Shape by_head = {1, 4, 16, 16};
  const AttributeMap swap_heads = {{"dim0", 1}, {"dim1", 2}};
  const AttributeMap split_heads = {{"size", Attribute::list({1, 16, 4, 16})}};
  TestGraphBuilder graph("TransformerBlock");
  graph.input("x", tokens);
  for (const auto& [layer, suffix] :
       {std::pair<std::string, std::string>("q_proj", ""), {"k_proj", "_1"}, {"v_proj", "_2"}}) {
    linear(graph, "linear" + suffix, "x", layer, 64, 64, tokens);
    graph.op("view" + suffix, "aten.view.default", {"linear" + suffix}, by_token, split_heads);
    graph.op("transpose" + suffix, "aten.transpose.int", {"view" + suffix}, by_head, swap_heads);
  }
  graph.op("transpose_3", "aten.transpose.int", {"transpose_1"}, by_head,
           {{"dim0", -2}, {"dim1", -1}});
  graph.op("matmul", "aten.matmul.default", {"transpose", "transpose_3"}, by_head);
  graph.op("div", "aten.div.Tensor", {"matmul"}, by_head, {{"other", 4.0}});
  graph.op("softmax", "aten.softmax.int", {"div"}, by_head, {{"dim", -1}});
  graph.op("matmul_1", "aten.matmul.default", {"softmax", "transpose_2"}, by_head);
  graph.op("transpose_4", "aten.transpose.int", {"matmul_1"}, by_token, swap_heads);
  graph.op("contiguous", "aten.contiguous.default", {"transpose_4"}, by_token);
  graph.op("view_3", "aten.view.default", {"contiguous"}, tokens,
           {{"size", Attribute::list({1, 16, 64})}});
  linear(graph, "linear_3", "view_3", "out_proj", 64, 64, tokens);
  graph.op("add", "aten.add.Tensor", {"x", "linear_3"}, tokens);
  layer_norm(graph, "layer_norm", "add", "norm1", 64, tokens);
  linear(graph, "linear_4", "layer_norm", "ffn.0", 64, 256, {1, 16, 256});
  graph.op("gelu", "aten.gelu.default", {"linear_4"}, {1, 16, 256});
  linear(graph, "linear_5", "gelu", "ffn.2", 256, 64, tokens);
  graph.op("add_1", "aten.add.Tensor", {"layer_norm", "linear_5"}, tokens);
  layer_norm(graph, "layer_norm_1", "add_1", "norm2", 64, tokens);
  return graph.output("layer_norm_1").build();
}

IR deep_resnet_graph() {
  const Shape features = {1, 32, 32, 32};
  TestGraphBuilder graph("DeepResNet");
  graph.input("x", {1, 3, 32, 32});
  const std::string stem = conv_bn(graph, 0, "x", "conv1", "bn1", 3);
  graph.op("relu", "aten.relu.default", {stem}, features);
  std::string x = "relu";
  for (int64_t block = 1; block <= 3; ++block) {
    const std::string layer = "res_block" + std::to_string(block);
    const std::string first = std::to_string(2 * block - 1);
    const std::string second = std::to_string(2 * block);
    const std::string sum = block == 1 ? "add" : "add_" + std::to_string(block - 1);
    const auto left = conv_bn(graph, 2 * block - 1, x, layer + ".conv1", layer + ".bn1", 32);
    graph.op("relu_" + first, "aten.relu.default", {left}, features);
    const auto right =
        conv_bn(graph, 2 * block, "relu_" + first, layer + ".conv2", layer + ".bn2", 32);
    graph.op(sum, "aten.add.Tensor", {right, x}, features);
    graph.op("relu_" + second, "aten.relu.default", {sum}, features);
    x = "relu_" + second;
  }
  graph.op("adaptive_avg_pool2d", "aten.adaptive_avg_pool2d.default", {x}, {1, 32, 1, 1},
           {{"output_size", Attribute::list({1, 1})}});
  graph.op("flatten", "aten.flatten.using_ints", {"adaptive_avg_pool2d"}, {1, 32},
           {{"start_dim", 1}});
  linear(graph, "linear", "flatten", "fc", 32, 10, {1, 10});
  return graph.output("linear").build();
}

}  // namespace torch_ir
