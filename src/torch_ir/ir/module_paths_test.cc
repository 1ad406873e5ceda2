#include "torch_ir/ir/module_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

// A node that reads `weight`, if it is given.
OpNode reading(const std::string& name, const std::string& weight = "") {
  OpNode made{
      .name = name, .op_type = "aten.relu.default", .inputs = {}, .outputs = {}, .attrs = {}};
  if (!weight.empty())
    made.inputs.push_back({.name = "p_" + weight, .shape = {}, .dtype = "float32"});
  return made;
}

IR graph(std::vector<OpNode> nodes) {
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
  IR ir = graph({reading("a", "other.weight"), reading("b")});
  ir.nodes[1].module = "encoder.act";
  EXPECT_THAT(module_paths(ir), ElementsAre("", "encoder.act"));
}

TEST(ModulePathsTest, FollowTheNamesOfWeightsOtherwise) {
  const IR ir =
      graph({reading("flatten"), reading("conv1", "layers.0.conv1.weight"), reading("relu"),
             reading("conv2", "layers.0.conv2.weight"), reading("relu_1"),
             reading("conv3", "layers.1.conv1.weight"), reading("scale", "gain"), reading("out")});
  EXPECT_THAT(module_paths(ir), ElementsAre("", "layers.0.conv1", "layers.0", "layers.0.conv2",
                                            "layers", "layers.1.conv1", "", ""));
}

TEST(ModulePathsTest, AreWrittenToFilesAndReadFromThem) {
  IR ir = graph({reading("a"), reading("b")});
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
