#include "torch_ir/visualize/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;

// x -> a -> b -> c -> d; d reads x and a too, and b and d are outputs.
IR small_graph() {
  TestGraphBuilder graph("M");
  graph.input("x", {4}).weight("p_w", "w", {4});
  graph.op("a", "aten.relu.default", {"x"}, {4});
  graph.op("b", "aten.add.Tensor", {"a", "p_w"}, {4});
  graph.op("c", "aten.mul.Tensor", {"b", "p_w"}, {4});
  graph.op("d", "aten.cat.default", {"c", "x", "a"}, {12});
  return graph.output("b").output("d").build();
}

std::vector<std::string> lines(const GraphSketch& sketch) {
  std::vector<std::string> result;
  for (const auto& mark : sketch.marks) {
    if (const Box* box = std::get_if<Box>(&mark)) {
      result.push_back(box->id + " " + box->title);
    } else {
      const auto& arrow = std::get<Arrow>(mark);
      result.push_back(arrow.from + " > " + arrow.to);
    }
  }
  return result;
}

TEST(SketchSections, RepeatsWhatComesFromElsewhere) {
  const std::vector<GraphSketch> sections = sketch_sections(small_graph(), 2, 100);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_THAT(lines(sections[0]),
              ElementsAre("s0_input_x Input: x", "s0_op_a relu", "s0_input_x > s0_op_a",
                          "s0_op_b add.Tensor", "s0_op_a > s0_op_b", "s0_w_p_w p_w",
                          "s0_w_p_w > s0_op_b", "s0_output_0 Output: b", "s0_op_b > s0_output_0"));
  EXPECT_THAT(
      lines(sections[1]),
      ElementsAre("s1_input_b From: b", "s1_input_x Input: x", "s1_input_a From: a",
                  "s1_op_c mul.Tensor", "s1_input_b > s1_op_c", "s1_w_p_w p_w",
                  "s1_w_p_w > s1_op_c", "s1_op_d cat", "s1_op_c > s1_op_d", "s1_input_x > s1_op_d",
                  "s1_input_a > s1_op_d", "s1_output_0 Output: d", "s1_op_d > s1_output_0"));
}

TEST(SketchSections, DrawEveryNodeOnce) {
  const IR ir = deep_resnet_graph();
  std::multiset<std::string> drawn;
  std::set<std::string> ids;
  size_t num_boxes = 0;
  for (const GraphSketch& sketch : sketch_sections(ir, 4, 1000)) {
    for (const auto& mark : sketch.marks) {
      const Box* box = std::get_if<Box>(&mark);
      if (box == nullptr) continue;
      ++num_boxes;
      ids.insert(box->id);
      if (box->kind == BoxKind::kOperator) drawn.insert(box->name);
    }
  }
  std::multiset<std::string> nodes;
  for (const OpNode& node : ir.nodes) nodes.insert(node.name);
  EXPECT_EQ(drawn, nodes);
  EXPECT_EQ(ids.size(), num_boxes);
}

TEST(SketchSections, CountWhatIsLeftOut) {
  const std::vector<GraphSketch> sections = sketch_sections(small_graph(), 2, 3);
  ASSERT_EQ(sections.size(), 3u);
  EXPECT_THAT(lines(sections[2]), ElementsAre("more_nodes ... 1 more node ..."));
}

}  // namespace
}  // namespace torch_ir
