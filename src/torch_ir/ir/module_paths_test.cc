#include "torch_ir/ir/module_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> paths_of(const IR& ir) {
  return module_paths(resolve(ir, GraphChecks::kStructure));
}

TEST(ModulePathsTest, AreTheRecordedOnesWhereAnyIsRecorded) {
  const IR ir = chain_of({{"relu", "", "other.weight"}, {"relu", "encoder.act"}});
  EXPECT_THAT(paths_of(ir), ElementsAre("", "encoder.act"));
}

TEST(ModulePathsTest, AreThoseOfReadersForNodesThatQuantise) {
  const IR ir = chain_of({{"quantized_decomposed.quantize_per_tensor.default"},
                          {"quantized_decomposed.dequantize_per_tensor.default"},
                          {"conv", "layer1.conv"},
                          {"flatten"}});
  EXPECT_THAT(paths_of(ir), ElementsAre("layer1.conv", "layer1.conv", "layer1.conv", ""));
}

// A node between two others may be called by any module around them.
TEST(ModulePathsTest, AreThoseOfTheWeightsThatANodeReadsOtherwise) {
  const IR ir = chain_of({{"flatten"},
                          {"conv", "", "layers.0.conv1.weight"},
                          {"relu"},
                          {"conv", "", "layers.0.conv2.weight"},
                          {"relu"},
                          {"conv", "", "layers.1.conv1.weight"},
                          {"mul", "", "gain"},
                          {"relu"}});
  EXPECT_THAT(paths_of(ir), ElementsAre("", "layers.0.conv1", "", "layers.0.conv2", "",
                                        "layers.1.conv1", "", ""));
  EXPECT_THAT(module_paths(resolve(ir, GraphChecks::kStructure), /*fills_gaps=*/true),
              ElementsAre("", "layers.0.conv1", "layers.0", "layers.0.conv2", "layers",
                          "layers.1.conv1", "", ""));
}

TEST(ModulePathsTest, AreUnknownWhereSeveralModulesOwnWhatIsRead) {
  IR ir = chain_of({{"embedding", "", "embed.weight"}, {"linear", "", "head.bias"}, {"relu"}});
  EXPECT_THAT(paths_of(ir), ElementsAre("embed", "head", ""));
  ir.nodes[2].inputs = {ir.nodes[0].inputs[1], ir.nodes[1].inputs[1]};
  EXPECT_THAT(paths_of(ir), ElementsAre("embed", "head", ""));
  ir.tied_weights = {{"embed.weight", "head.weight"}};
  ir.nodes[1].inputs.push_back(ir.nodes[0].inputs[1]);
  EXPECT_THAT(paths_of(ir), ElementsAre("", "head", "head"));
}

TEST(EnclosingModuleTest, EndsAtADot) {
  EXPECT_EQ(enclosing_module("encoder.layers.0", "encoder.norm"), "encoder");
  EXPECT_EQ(enclosing_module("layer1", "layer10"), "");
  EXPECT_EQ(enclosing_module("layer1", "layer1.conv"), "layer1");
  EXPECT_EQ(enclosing_module("", "layer1"), "");
}

}  // namespace
}  // namespace torch_ir
