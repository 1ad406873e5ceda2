#include "torch_ir/visualize/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

std::vector<ChainNode> repeated(int copies, const std::vector<ChainNode>& nodes) {
  std::vector<ChainNode> all;
  for (int i = 0; i < copies; ++i) all.insert(all.end(), nodes.begin(), nodes.end());
  return all;
}

Part fold(const IR& ir, const std::string& module = "") {
  return fold_graph(resolve(ir, GraphChecks::kStructure), module);
}

// "TITLE BEGIN-END", with "*COPIES" for a repeat.
std::vector<std::string> outline(const Part& part) {
  std::vector<std::string> lines;
  for (const Part& child : part.children) {
    lines.push_back(child.title + " " + std::to_string(child.begin) + "-" +
                    std::to_string(child.end) +
                    (child.copies == 1 ? "" : "*" + std::to_string(child.copies)));
  }
  return lines;
}

TEST(FoldGraph, AModuleIsOnePartACall) {
  const IR ir = chain_of({{"relu", "a.b"}, {"neg", "a"}, {"tanh"}, {"neg", "a"}, {"relu", "a"}});
  const Part root = fold(ir);
  EXPECT_THAT(outline(root), ElementsAre("a 0-2", " 2-3", "a 3-5"));
  EXPECT_THAT(outline(root.children[0]), ElementsAre("b 0-1", " 1-2"));
}

TEST(FoldGraph, ManyDifferentModulesAreJoinedUnderTheirNames) {
  std::vector<ChainNode> nodes;
  std::vector<std::string> traits;
  for (int i = 0; i < 30; ++i) {
    nodes.insert(nodes.end(), 2, {"relu", "layers." + std::to_string(i)});
    traits.insert(traits.end(), 2, std::to_string(i));
  }
  const Program program = resolve(chain_of(nodes), GraphChecks::kStructure);
  EXPECT_THAT(outline(fold_graph(program, "", traits)),
              ElementsAre("layers.0-5 0-12", "layers.6-11 12-24", "layers.12-17 24-36",
                          "layers.18-23 36-48", "layers.24-29 48-60"));
}

TEST(FoldGraph, NoPartHasManyChildren) {
  std::vector<ChainNode> nodes;
  for (int i = 0; i < 3000; ++i) nodes.push_back({"op" + std::to_string(i)});
  size_t num_nodes = 0;
  std::vector<Part> parts = {fold(chain_of(nodes))};
  while (!parts.empty()) {
    const Part part = std::move(parts.back());
    parts.pop_back();
    EXPECT_LE(part.children.size(), kMaxChildren);
    num_nodes += part.is_node() ? 1 : 0;
    parts.insert(parts.end(), part.children.begin(), part.children.end());
  }
  EXPECT_EQ(num_nodes, 3000u);
}

TEST(FoldGraph, AModuleThatIsAllOfAnotherTakesItsPlace) {
  const IR ir =
      chain_of({{"relu", "model.body.a"}, {"neg", "model.body.b"}, {"tanh", "model.body.b"}});
  EXPECT_THAT(outline(fold(ir)), ElementsAre("a 0-1", "b 1-3"));
}

TEST(FoldGraph, EqualModulesInARowAreARepeat) {
  std::vector<ChainNode> nodes = {{"neg"}};
  for (int i = 0; i < 11; ++i) {
    const std::string layer = "layers." + std::to_string(i);
    nodes.insert(nodes.end(), {{"relu", layer}, {i == 5 ? "cos" : "sin", layer}, {"tanh", layer}});
  }
  const Part root = fold(chain_of(nodes));
  EXPECT_THAT(outline(root),
              ElementsAre(" 0-1", "layers.0-4 1-16*5", "layers.5 16-19", "layers.6-10 19-34*5"));
  EXPECT_THAT(root.children[1].children[2].shifts, ElementsAre(0, 3, 6, 9, 12));
}

TEST(FoldGraph, PairsOfModulesAreARepeat) {
  std::vector<ChainNode> nodes;
  for (int i = 0; i < 6; ++i) {
    const std::string block = "blocks." + std::to_string(i);
    nodes.insert(nodes.end(), {{"relu", block}, {i % 2 ? "roll" : "tanh", block}});
  }
  nodes.push_back({"neg"});
  const Part root = fold(chain_of(nodes));
  EXPECT_THAT(outline(root), ElementsAre("blocks.0-5 0-12*3", " 12-13"));
  EXPECT_THAT(outline(root.children[0]), ElementsAre("blocks.0 0-2", "blocks.1 2-4"));
}

TEST(FoldGraph, ModulesOfOtherNamesAreNoRepeat) {
  const auto nodes = [](const std::string& module) {
    return repeated(3, {{"relu", module}, {"neg", module}});
  };
  std::vector<ChainNode> all = nodes("keys");
  for (const auto& node : nodes("values")) all.push_back(node);
  all.push_back({"tanh"});
  EXPECT_THAT(outline(fold(chain_of(all))), ElementsAre("keys 0-6", "values 6-12", " 12-13"));
}

TEST(FoldGraph, EqualNodesWithoutModulesAreARepeat) {
  std::vector<ChainNode> nodes = repeated(4, {{"relu"}, {"neg"}, {"tanh"}});
  nodes.push_back({"sin"});
  EXPECT_THAT(outline(fold(chain_of(nodes))), ElementsAre("relu, neg, tanh 0-12*4", " 12-13"));
}

// The same operators, but the second copy reads the first value of its own twice.
TEST(FoldGraph, OtherArrowsInsideAreNoRepeat) {
  TestGraphBuilder graph("M");
  graph.input("x", {4});
  for (const std::string copy : {"a", "b"}) {
    graph.op(copy + "0", "aten.relu.default", {"x"}, {4});
    graph.op(copy + "1", "aten.neg.default", {"x"}, {4});
    graph.op(copy + "2", "aten.tanh.default", {"x"}, {4});
    const std::string other = copy + (copy == "a" ? "1" : "0");
    graph.op(copy + "3", "aten.add.Tensor", {copy + "0", other}, {4});
  }
  EXPECT_EQ(fold(graph.output("b3").build()).children.size(), 8u);
}

TEST(FoldGraph, DeepPathsEnd) {
  std::string path = "m";
  for (int i = 0; i < 100'000; ++i) path += ".m";
  const Part root = fold(chain_of({{"relu", path}, {"neg"}}));
  EXPECT_EQ(root.children.size(), 2u);
}

TEST(FoldGraph, AnUnknownModuleIsRefused) {
  const IR ir = chain_of({{"relu", "encoder.mlp"}, {"neg"}});
  EXPECT_EQ(fold(ir, "encoder").num_nodes(), 1u);
  EXPECT_THAT([&] { fold(ir, "encoder.mpl"); },
              ThrowsMessage<Error>("unknown module 'encoder.mpl'; did you mean 'encoder.mlp'?"));
  EXPECT_THAT([] { fold(chain_of({{"relu"}}), "encoder"); },
              ThrowsMessage<Error>("unknown module 'encoder': the graph names no modules"));
}

TEST(TitleOfRange, HasTheNumbersThatDiffer) {
  EXPECT_EQ(title_of_range("layers.0", "layers.11"), "layers.0-11");
  EXPECT_EQ(title_of_range("layers.10", "layers.11"), "layers.10-11");
  EXPECT_EQ(title_of_range("h.0.mlp", "h.3.mlp"), "h.0-3.mlp");
  EXPECT_EQ(title_of_range("down1", "down4"), "down1-4");
  EXPECT_EQ(title_of_range("act", "act"), "act");
  EXPECT_EQ(title_of_range("norm", "mlp"), "norm ... mlp");
}

}  // namespace
}  // namespace torch_ir
