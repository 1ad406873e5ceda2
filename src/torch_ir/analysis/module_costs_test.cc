#include "torch_ir/analysis/module_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Nodes that each multiply by the one weight, of 8 by 8.
IR graph_with(const std::vector<std::string>& modules) {
  TestGraphBuilder builder("Net");
  builder.input("x", {8, 8}).weight("p_w", "w", {8, 8});
  std::string last = "x";
  for (size_t i = 0; i < modules.size(); ++i) {
    const std::string name = "n" + std::to_string(i);
    builder.op(name, "aten.mm.default", {last, "p_w"}, {8, 8});
    last = name;
  }
  IR ir = builder.output(last).build();
  for (size_t i = 0; i < modules.size(); ++i) ir.nodes[i].module = modules[i];
  return ir;
}

std::vector<ModuleCost> costs(const IR& ir) {
  const Program program = resolve(ir);
  return costs_by_module(program, cost_of(program));
}

std::vector<std::string> paths_of(const std::vector<std::string>& modules) {
  std::vector<std::string> paths;
  for (const ModuleCost& cost : costs(graph_with(modules))) paths.push_back(cost.path);
  return paths;
}

TEST(CostsByModule, AddUpItsNodesAndCountEachWeightOnce) {
  const std::vector<ModuleCost> rows = costs(graph_with({"a", "b", "a"}));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].path, "b");
  EXPECT_EQ(rows[0].parameters, 64);
  EXPECT_EQ(rows[1].path, "a");
  EXPECT_THAT(rows[1].nodes, ElementsAre(0, 2));
  EXPECT_EQ(rows[1].multiply_adds, 1024);
  EXPECT_TRUE(rows[1].is_counted);
  EXPECT_EQ(rows[1].parameters, 64);
}

TEST(CostsByModule, SayWhereNodesAreNotCounted) {
  IR ir = graph_with({"a", "a"});
  ir.nodes[1].op_type = "my.op.default";
  const std::vector<ModuleCost> rows = costs(ir);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].multiply_adds, 512);
  EXPECT_FALSE(rows[0].is_counted);
}

TEST(CostsByModule, ComeInTheOrderOfTheirLastNodesEachBeforeThoseInside) {
  EXPECT_THAT(paths_of({"b.1", "b.0", "", "a.x", "b", "a", "b.1.y"}),
              ElementsAre("", "a", "a.x", "b", "b.0", "b.1", "b.1.y"));
  EXPECT_THAT(costs(graph_with({"", ""})), IsEmpty());
}

TEST(CostsByModule, GoAsDeepAsFortyRowsAllow) {
  std::vector<std::string> modules;
  for (int i = 0; i < 20; ++i) {
    for (const char* part : {".attn", ".mlp"})
      modules.push_back("layers." + std::to_string(i) + part);
  }
  EXPECT_THAT(paths_of(modules), SizeIs(40));
  modules.push_back("head");
  const std::vector<std::string> paths = paths_of(modules);
  EXPECT_THAT(paths, SizeIs(21));
  EXPECT_EQ(paths[19], "layers.19");
}

}  // namespace
}  // namespace torch_ir
