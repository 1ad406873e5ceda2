#include "torch_ir/cases/node_groups.h"

#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/program_graphs.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

std::vector<std::string> nodes_of(const Program& program) {
  std::vector<std::string> names;
  for (const Node& node : program.nodes) names.push_back(node.name);
  return names;
}

GroupedGraph group_nodes(const EagerGraph& graph, const std::vector<NodeGroup>& groups) {
  const Program program = resolve(graph.ir);
  return group_nodes(program, memory_of(graph.as_case()), groups);
}

std::vector<size_t> sizes_of(const GroupedGraph& grouped) {
  std::vector<size_t> sizes;
  for (const NodeSpan& span : grouped.spans) sizes.push_back(span.size());
  return sizes;
}

// n0 = relu(x), n1 = cos(x), n2 = sin(n0), n3 = neg(n1), n4 = n2 + n0, n5 = exp(n4).
class GroupsTest : public ::testing::Test {
 protected:
  GroupsTest() {
    const V x = graph_.input("x", at::rand({2, 3}));
    const V relu = graph_.call1("aten.relu.default", {x});
    const V cos = graph_.call1("aten.cos.default", {x});
    const V sin = graph_.call1("aten.sin.default", {relu});
    const V neg = graph_.call1("aten.neg.default", {cos});
    const V add = graph_.call1("aten.add.Tensor", {sin, relu});
    graph_.output(graph_.call1("aten.exp.default", {add}));
    graph_.output(neg);
  }

  GroupedGraph group(const std::vector<NodeGroup>& groups) { return group_nodes(graph_, groups); }

  void expect_refused(const std::vector<NodeGroup>& groups, const std::string& problem) {
    EXPECT_THAT([&] { group(groups); }, ThrowsMessage<Error>(problem));
  }

  EagerGraph graph_;
};

TEST_F(GroupsTest, WithoutGroupsEachNodeIsASpanInItsPlace) {
  const GroupedGraph grouped = group({});
  EXPECT_EQ(to_ir(grouped.program), graph_.ir);
  EXPECT_THAT(sizes_of(grouped), ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_EQ(grouped.values.size(), 6);
  EXPECT_THAT(grouped.inside, ::testing::IsEmpty());
}

TEST_F(GroupsTest, AGroupBecomesARangeWhoseInsideIsNotCompared) {
  const GroupedGraph grouped = group({{"fused", {"n4", "n0", "n2"}}, {"other", {"n3", "n1"}}});
  EXPECT_THAT(nodes_of(grouped.program), ElementsAre("n0", "n2", "n4", "n1", "n3", "n5"));
  EXPECT_THAT(sizes_of(grouped), ElementsAre(3, 2, 1));
  EXPECT_EQ(grouped.spans[0].group, "fused");
  EXPECT_EQ(grouped.spans[2].group, "");
  EXPECT_EQ(grouped.span_of.at(2), 0);
  EXPECT_EQ(grouped.span_of.at(5), 2);
  EXPECT_EQ(grouped.original.at(2), 4);
  EXPECT_THAT(names_of(grouped.program, grouped.values), ElementsAre("n3", "n4", "n5"));
  EXPECT_THAT(grouped.inside, ::testing::SizeIs(3));
}

TEST_F(GroupsTest, AValueInsideIsComparedIfTheGroupHandsItBack) {
  const GroupedGraph grouped = group({{"fused", {"n0", "n2", "n4"}, {{.name = "n2"}}}});
  EXPECT_THAT(names_of(grouped.program, grouped.values), ElementsAre("n1", "n2", "n3", "n4", "n5"));
}

TEST_F(GroupsTest, NamesThatDoNotFitAreRefused) {
  expect_refused({{"a", {"n9"}}}, "group 'a': the graph has no node 'n9'; did you mean 'n0'?");
  expect_refused({{"a", {"n0", "n2"}}, {"b", {"n2", "n4"}}},
                 "group 'b': the node 'n2' is in the group 'a' too");
  expect_refused({{"a", {"n0", "n0"}}}, "group 'a': duplicate node 'n0'");
  expect_refused({{"a", {"n0"}}, {"a", {"n2"}}}, "group 'a': duplicate name");
  expect_refused({{"a", {}}}, "group 'a': it has no nodes");
  expect_refused({{"a", {"n0"}, {{.name = "n2"}}}},
                 "group 'a': none of its nodes makes the value 'n2'");
}

TEST_F(GroupsTest, CyclesAreRefused) {
  expect_refused(
      {{"a", {"n0", "n4"}}},
      "group 'a': it has a cycle: it needs the node 'n2', which needs the group's results");
  expect_refused(
      {{"a", {"n0", "n3"}}, {"b", {"n1", "n5"}}},
      "group 'a': it has a cycle: it needs the group 'b', which needs the node 'n4', which "
      "needs the group's results");
}

TEST_F(GroupsTest, FormsThatDoNotFitAreRefused) {
  const auto refused = [&](ValueForm form, const std::string& problem) {
    form.name = "n0";
    expect_refused({{"a", {"n0"}, {form}}}, "group 'a': its value 'n0' " + problem);
  };
  refused({.permutation = {0, 0}}, "has the invalid permutation [0, 0]");
  refused({.permutation = {1, 2, 0}}, "has rank 2, but a permutation or padding of length 3");
  refused({.padding = {{0, 1}}}, "has rank 2, but a permutation or padding of length 1");
  refused({.padding = {{0, 1}, {-1, 0}}}, "has negative padding");
  refused({.dtype = "int9"}, "has the unknown dtype 'int9'");
  refused({.zero_point = 1}, "has a zero_point, but no scale");
  refused({.dtype = "int8", .scale = 0}, "has a scale that is not positive and finite");
  refused({.scale = 1}, "has a scale, but its dtype is not an integer of up to 32 bits");
  refused({.dtype = "int64", .scale = 1},
          "has a scale, but its dtype is not an integer of up to 32 bits");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused({.dtype = "int8", .scale = nan}, "has a scale that is not positive and finite");
  refused({.dtype = "int8", .scale = 1, .zero_point = int64_t{1} << 60},
          "has the zero_point 1152921504606846976, which has more than 32 bits");
  refused({.dtype = "int8", .scale = 1e300},
          "has the scale 1e+300, with which its greatest number is inf in float32");
  refused({.dtype = "int8", .scale = 1e-300},
          "has the scale 1e-300, with which its greatest number is 0 in float32");
  graph_.ir.nodes[0].outputs[0].dtype = "int64";
  for (OpNode& node : graph_.ir.nodes) {
    for (TensorMeta& input : node.inputs) {
      if (input.name == "n0") input.dtype = "int64";
    }
  }
  refused({.dtype = "int8", .scale = 1}, "has a scale, but its dtype in the graph is int64");
}

TEST(Groups, WhatReadsMemoryStaysBeforeWhatWritesToIt) {
  EagerGraph graph;
  const V x = graph.input("x", at::rand({2}));
  const V copy = graph.call1("aten.exp.default", {x});
  const V read = graph.call1("aten.sin.default", {copy});
  const V written = graph.call1("aten.relu_.default", {copy});
  const V sum = graph.call1("aten.add.Tensor", {read, written});
  graph.output(sum);
  // Without the write, the group could come before its reader.
  EXPECT_THAT([&] { group_nodes(graph, {{"a", {"n0", "n2"}}}); },
              ThrowsMessage<Error>("group 'a': it has a cycle: it needs the node 'n1', which needs "
                                   "the group's results"));
}

}  // namespace
}  // namespace torch_ir
