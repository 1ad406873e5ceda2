#include "torch_ir/visualize/graph_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class GraphDataTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("dot -V 2>/dev/null") != 0) GTEST_SKIP() << "Graphviz's dot is not on the PATH";
  }

  static json data_of(const IR& ir, const SvgOptions& options = {}) {
    return json::parse(graph_data(resolve(ir, GraphChecks::kStructure), options));
  }

  static std::vector<std::string> titles(const json& level) {
    std::vector<std::string> texts;
    for (const json& box : level["boxes"]) texts.push_back(box[1]);
    return texts;
  }
};

IR graph_of_layers(int num_layers) {
  std::vector<ChainNode> nodes;
  for (int i = 0; i < num_layers; ++i) {
    const std::string layer = "layers." + std::to_string(i);
    nodes.insert(nodes.end(), {{"relu", layer}, {"sin", layer}, {"tanh", layer}});
  }
  return chain_of(nodes);
}

TEST_F(GraphDataTest, HasNodesWithTheirArguments) {
  const json data = data_of(masked_linear_graph());
  EXPECT_EQ(data["nodes"][0].dump(),
            R"(["linear","aten.linear.default","convolution, matmul","linear","",)"
            R"([["input",0],["weight",1],["bias",2]],[4]])");
  EXPECT_EQ(data["values"][0].dump(), R"(["x","1x4","float32"])");
  EXPECT_EQ(data["weights"][0].dump(), R"([1,"linear.weight"])");
}

TEST_F(GraphDataTest, EqualLayersAreOneBoxOnlyIfTheirTraitsAreEqual) {
  const IR ir = graph_of_layers(6);
  EXPECT_THAT(titles(data_of(ir)["levels"][0]), ElementsAre(testing::_, "layers.0-5 ×6", "Output"));
  SvgOptions options{.traits = std::vector<std::string>(18, "0")};
  options.traits[13] = "0.5";
  const json levels = data_of(ir, options)["levels"];
  EXPECT_THAT(titles(levels[0]),
              ElementsAre(testing::_, "layers.0-3 ×4", "layers.4", "layers.5", "Output"));
  EXPECT_EQ(levels[0]["boxes"][2][7], json({12, 14}));
  const json& inside = levels[levels[0]["boxes"][2][8].get<size_t>()];
  EXPECT_EQ(inside["boxes"][2][7], json({13, 13}));
}

TEST_F(GraphDataTest, AGroupOfAnExecutorHasItsBoxes) {
  const IR ir = graph_of_layers(1);
  SvgOptions options{.groups = {"g", "g", ""}};
  const json level = data_of(ir, options)["levels"][0];
  ASSERT_THAT(titles(level), ElementsAre("Input: x", "relu", "sin", "tanh", "Output"));
  EXPECT_EQ(level["groups"], json::parse(R"([["g", [1, 2]]])"));
  std::vector<std::pair<int, int>> arrows;
  for (const json& arrow : level["arrows"]) arrows.emplace_back(arrow[0], arrow[1]);
  using testing::Pair;
  EXPECT_THAT(arrows, UnorderedElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3), Pair(3, 4)));
  // Not in a picture whose modules are opened, for a group may be in several.
  options.groups = {"", "g", "h"};
  EXPECT_EQ(data_of(ir, options)["levels"][0]["groups"].size(), 2u);
}

TEST_F(GraphDataTest, EveryNodeIsInOneBoxOfEachLevelAroundIt) {
  const json data = data_of(deep_resnet_graph());
  std::vector<int> seen(data["nodes"].size());
  const std::function<void(const json&)> visit = [&](const json& level) {
    for (const json& box : level["boxes"]) {
      const json& runs = box[7];
      if (box[8] != 0) {
        visit(data["levels"][box[8].get<size_t>()]);
        continue;
      }
      for (size_t i = 0; i < runs.size(); i += 2) {
        for (size_t node = runs[i]; node <= runs[i + 1]; ++node) ++seen[node];
      }
    }
    for (const json& arrow : level["arrows"]) {
      EXPECT_LT(arrow[0], level["boxes"].size());
      EXPECT_LT(arrow[1], level["boxes"].size());
      // The tip, then the start and three points for each curve.
      EXPECT_EQ(arrow[4].size() / 2 % 3, 2u) << arrow.dump();
    }
  };
  visit(data["levels"][0]);
  EXPECT_THAT(seen, testing::Each(1));
}

TEST_F(GraphDataTest, ShowsAGraphWithoutNodes) {
  const json data = data_of(TestGraphBuilder("Empty").input("x", {4}).output("x").build());
  EXPECT_THAT(titles(data["levels"][0]), ElementsAre("Input: x", "Output"));
  EXPECT_EQ(data["nodes"], json::array());
}

}  // namespace
}  // namespace torch_ir
