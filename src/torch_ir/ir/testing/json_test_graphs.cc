#include "torch_ir/ir/testing/json_test_graphs.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/complex.h>

#include <complex>
#include <limits>
#include <utility>

namespace torch_ir {

TensorMeta meta(std::string name, std::vector<int64_t> shape, std::string dtype) {
  return {.name = std::move(name), .shape = std::move(shape), .dtype = std::move(dtype)};
}

TensorMeta made_by(TensorMeta tensor, std::string producer, int64_t index) {
  tensor.producer_node = std::move(producer);
  tensor.producer_output_idx = index;
  return tensor;
}

OpNode node(std::string name, std::string op_type, std::vector<TensorMeta> inputs,
            std::vector<TensorMeta> outputs) {
  return {.name = std::move(name),
          .op_type = std::move(op_type),
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attrs = {}};
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
  OpNode factory =
      node("empty", "aten.empty.memory_format", {}, {meta("empty", {1, 2, 3, 4}, "bfloat16")});
  factory.attrs = {{"size", Attribute::list({1, 2, 3, 4})},
                   {"dtype", c10::kBFloat16},
                   {"layout", c10::kStrided},
                   {"device", c10::Device(c10::kCPU)},
                   {"pin_memory", false},
                   {"memory_format", c10::MemoryFormat::ChannelsLast}};
  OpNode full = node("full", "aten.full.default", {}, {meta("full", {}, "complex128")});
  full.attrs = {{"size", Attribute::list({})},
                {"fill_value", std::complex<double>(0.5, -std::numeric_limits<double>::infinity())},
                {"device", c10::Device(c10::kCUDA, 1)}};
  OpNode clamp = node("clamp", "aten.clamp.Tensor",
                      {made_by(meta("x", {2}), "x"), made_by(meta("limit", {2}), "limit")},
                      {meta("clamp", {2})});
  clamp.inputs[1].arg = "max";
  ir.nodes = {factory, full, clamp};
  ir.weights = {meta("c", {0, 2}, "bfloat16"), meta("z", {2}, "complex64")};
  ir.weights[1].strides = {3};
  ir.weight_name_mapping.insert("c_c", "c");
  ir.weight_name_mapping.insert("c_z", "z");
  ir.constants.insert("c", at::empty({0, 2}, at::kBFloat16));
  ir.constants.insert("z", at::tensor({c10::complex<float>(0.1f, 0), c10::complex<float>(0, -1)}));
  return ir;
}

}  // namespace torch_ir
