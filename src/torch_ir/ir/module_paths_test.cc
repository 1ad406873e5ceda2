#include "torch_ir/ir/module_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

// A node that reads the weight `weight`, or none.
OpNode reader_of(const std::string& name, const std::string& weight = "") {
  OpNode made{
      .name = name, .op_type = "aten.relu.default", .inputs = {}, .outputs = {}, .attrs = {}};
  if (!weight.empty())
    made.inputs.push_back({.name = "p_" + weight, .shape = {}, .dtype = "float32"});
  return made;
}

IR graph_with(std::vector<OpNode> nodes) {
  IR ir;
  ir.nodes = std::move(nodes);
  for (const OpNode& each : ir.nodes) {
    for (const TensorMeta& input : each.inputs) {
      ir.weight_name_mapping.insert(input.name, input.name.substr(2));
    }
  }
  return ir;
}

TEST(ModulePathsTest, AreTheRecordedOnesWhereAnyIsRecorded) {
  IR ir = graph_with({reader_of("a", "other.weight"), reader_of("b")});
  ir.nodes[1].module = "encoder.act";
  EXPECT_THAT(module_paths(ir), ElementsAre("", "encoder.act"));
}

TEST(ModulePathsTest, AreThoseOfReadersForNodesThatQuantise) {
  IR ir = graph_with(
      {reader_of("quantize"), reader_of("dequantize"), reader_of("conv"), reader_of("flat")});
  for (size_t i = 0; i < 3; ++i) {
    ir.nodes[i].outputs = {{.name = ir.nodes[i].name, .shape = {}, .dtype = "float32"}};
    ir.nodes[i + 1].inputs = ir.nodes[i].outputs;
  }
  ir.nodes[0].op_type = "quantized_decomposed.quantize_per_tensor.default";
  ir.nodes[1].op_type = "quantized_decomposed.dequantize_per_tensor.default";
  ir.nodes[2].module = "layer1.conv";
  EXPECT_THAT(module_paths(ir), ElementsAre("layer1.conv", "layer1.conv", "layer1.conv", ""));
}

TEST(ModulePathsTest, FollowTheNamesOfWeightsOtherwise) {
  const IR ir = graph_with({reader_of("flatten"), reader_of("conv1", "layers.0.conv1.weight"),
                            reader_of("relu"), reader_of("conv2", "layers.0.conv2.weight"),
                            reader_of("relu_1"), reader_of("conv3", "layers.1.conv1.weight"),
                            reader_of("scale", "gain"), reader_of("out")});
  EXPECT_THAT(module_paths(ir), ElementsAre("", "layers.0.conv1", "layers.0", "layers.0.conv2",
                                            "layers", "layers.1.conv1", "", ""));
}

TEST(ModulePathsTest, AreWrittenToFilesAndReadFromThem) {
  IR ir = graph_with({reader_of("a"), reader_of("b")});
  ir.nodes[1].module = "encoder.act";
  const std::string text = serialize_ir(ir);
  EXPECT_EQ(deserialize_ir(text), ir);
  // Only nodes that have a path have the key.
  EXPECT_EQ(text.find("\"module\""), text.rfind("\"module\""));
}

TEST(EnclosingModuleTest, EndsAtADot) {
  EXPECT_EQ(enclosing_module("encoder.layers.0", "encoder.norm"), "encoder");
  EXPECT_EQ(enclosing_module("layer1", "layer10"), "");
  EXPECT_EQ(enclosing_module("layer1", "layer1.conv"), "layer1");
  EXPECT_EQ(enclosing_module("", "layer1"), "");
}

}  // namespace
}  // namespace torch_ir
