#include "torch_ir/visualize/sketch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;

// A sketch as sketch_lines: "ID TITLE | DETAIL" for boxes, "FROM > TO LABEL" for arrows, "FROM : TO
// LABEL" for those from weights.
std::vector<std::string> sketch_lines(const GraphSketch& sketch) {
  struct Line {
    std::string operator()(const Box& box) const {
      return box.id + " " + box.title + (box.detail.empty() ? "" : " | " + box.detail);
    }
    std::string operator()(const Arrow& arrow) const {
      return arrow.from + (arrow.from_weight ? " : " : " > ") + arrow.to +
             (arrow.label.empty() ? "" : " " + arrow.label);
    }
  };
  std::vector<std::string> result;
  for (const auto& mark : sketch.marks) result.push_back(std::visit(Line(), mark));
  const auto is_arrow = [](const auto& mark) { return std::holds_alternative<Arrow>(mark); };
  EXPECT_EQ(sketch.num_arrows, std::count_if(sketch.marks.begin(), sketch.marks.end(), is_arrow));
  return result;
}

std::vector<std::string> draw(const IR& ir, const SketchLimits& limits = {}) {
  return sketch_lines(sketch_graph(ir, limits));
}

TEST(SketchGraph, DrawsAnArrowForEachUseOfAValue) {
  TestGraphBuilder graph("M");
  graph.input("x", {4}).op("mul", "aten.mul.Tensor", {"x", "x"}, {4}).output("mul");
  EXPECT_THAT(draw(graph.build()),
              ElementsAre("input_x Input: x | 4", "op_mul mul.Tensor | 4", "input_x > op_mul 4",
                          "input_x > op_mul 4", "output_0 Output | 4", "op_mul > output_0"));
}

TEST(SketchGraph, DrawsAWeightOnceAndOnlyWhereItIsUsed) {
  TestGraphBuilder graph("M");
  graph.input("x", {4}).weight("p_w", "w", {4}).weight("b_unused", "unused", {});
  graph.op("add", "aten.add.Tensor", {"x", "p_w"}, {4});
  graph.op("mul", "aten.mul.Tensor", {"add", "p_w"}, {4}).output("mul");
  EXPECT_THAT(
      draw(graph.build()),
      ElementsAre("input_x Input: x | 4", "op_add add.Tensor | 4", "input_x > op_add 4",
                  "w_p_w p_w | 4", "w_p_w : op_add 4", "op_mul mul.Tensor | 4", "op_add > op_mul 4",
                  "w_p_w : op_mul 4", "output_0 Output | 4", "op_mul > output_0"));
}

TEST(SketchGraph, NamesTheOutputOfANodeWithSeveral) {
  TestGraphBuilder graph("M");
  graph.input("x", {8}).multi_op("split", "aten.split.Tensor", {"x"}, {{4}, {4}});
  graph.op("add", "aten.add.Tensor", {"split_1", "split_0"}, {4}).output("add").output("split_1");
  EXPECT_THAT(
      draw(graph.build()),
      ElementsAre("input_x Input: x | 8", "op_split split.Tensor | 4, 4", "input_x > op_split 8",
                  "op_add add.Tensor | 4", "op_split > op_add out 1: 4",
                  "op_split > op_add out 0: 4", "output_0 Output: add | 4", "op_add > output_0",
                  "output_1 Output: split_1 | 4", "op_split > output_1"));
}

TEST(SketchGraph, ShowsFourShapesOfANodeAndCountsTheRest) {
  TestGraphBuilder graph("M");
  graph.input("x", {6}).multi_op("u", "aten.unbind.int", {"x"}, {{}, {}, {}, {}, {}, {}});
  EXPECT_THAT(draw(graph.build()), testing::Contains("op_u unbind.int | scalar, scalar, scalar, "
                                                     "scalar, ... 2 more"));
}

TEST(SketchGraph, ReturnsInputsWeightsAndAValueTwice) {
  TestGraphBuilder graph("M");
  graph.input("x", {4}).weight("p_w", "w", {2});
  graph.output("x").output("p_w").output("x");
  EXPECT_THAT(draw(graph.build()),
              ElementsAre("input_x Input: x | 4", "output_0 Output: x | 4", "input_x > output_0",
                          "output_1 Output: p_w | 2", "w_p_w p_w | 2", "w_p_w : output_1",
                          "output_2 Output: x | 4", "input_x > output_2"));
}

TEST(SketchGraph, DrawsNodesThatReturnNothing) {
  TestGraphBuilder graph("M");
  graph.input("x", {4}).multi_op("check", "aten._assert_async.default", {"x"}, {});
  EXPECT_THAT(draw(graph.build()), ElementsAre("input_x Input: x | 4", "op_check _assert_async",
                                               "input_x > op_check 4"));
}

IR chain(int length) {
  TestGraphBuilder graph("Chain");
  graph.input("x", {4});
  std::string last = "x";
  for (int i = 0; i < length; ++i) {
    const std::string name = "n" + std::to_string(i);
    graph.op(name, "aten.relu.default", {last}, {4});
    last = name;
  }
  return graph.output(last).build();
}

TEST(SketchGraph, CutsWithANoteInThePlaceOfTheRest) {
  EXPECT_THAT(draw(chain(3), {.nodes = 1}),
              ElementsAre("input_x Input: x | 4", "op_n0 relu | 4", "input_x > op_n0 4",
                          "more_nodes ... 2 more nodes ...", "op_n0 > more_nodes 4",
                          "output_0 Output | 4", "more_nodes > output_0"));
  EXPECT_THAT(draw(chain(3), {.nodes = 2}), testing::Contains("more_nodes ... 1 more node ..."));
  EXPECT_EQ(draw(chain(3), {.nodes = 3}), draw(chain(3)));
}

TEST(SketchGraph, CutsInputsAndOutputs) {
  TestGraphBuilder graph("M");
  graph.input("a", {4}).input("b", {4}).input("c", {4});
  graph.op("add", "aten.add.Tensor", {"a", "c"}, {4}).output("add").output("a").output("b");
  EXPECT_THAT(draw(graph.build(), {.inputs = 1, .outputs = 2}),
              ElementsAre("input_a Input: a | 4", "more_inputs ... 2 more inputs ...",
                          "op_add add.Tensor | 4", "input_a > op_add 4", "more_inputs > op_add 4",
                          "output_0 Output: add | 4", "op_add > output_0", "output_1 Output: a | 4",
                          "input_a > output_1", "more_outputs ... 1 more output ..."));
}

TEST(SketchGraph, DrawsWhatNobodyMadeAsAWeight) {
  IR ir = chain(2);
  std::swap(ir.nodes[0], ir.nodes[1]);
  EXPECT_THAT(draw(ir), ElementsAre("input_x Input: x | 4", "op_n1 relu | 4", "w_n0 n0 | 4",
                                    "w_n0 : op_n1 4", "op_n0 relu | 4", "input_x > op_n0 4",
                                    "output_0 Output | 4", "op_n1 > output_0"));
}

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

TEST(SketchSections, RepeatsWhatComesFromElsewhere) {
  const std::vector<GraphSketch> sections = sketch_sections(small_graph(), 2, 100);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_THAT(
      sketch_lines(sections[0]),
      ElementsAre("s0_input_x Input: x | 4", "s0_op_a relu | 4", "s0_input_x > s0_op_a 4",
                  "s0_op_b add.Tensor | 4", "s0_op_a > s0_op_b 4", "s0_w_p_w p_w | 4",
                  "s0_w_p_w : s0_op_b 4", "s0_output_0 Output: b | 4", "s0_op_b > s0_output_0"));
  EXPECT_THAT(
      sketch_lines(sections[1]),
      ElementsAre("s1_input_b From: b | 4", "s1_input_x Input: x | 4", "s1_input_a From: a | 4",
                  "s1_op_c mul.Tensor | 4", "s1_input_b > s1_op_c 4", "s1_w_p_w p_w | 4",
                  "s1_w_p_w : s1_op_c 4", "s1_op_d cat | 12", "s1_op_c > s1_op_d 4",
                  "s1_input_x > s1_op_d 4", "s1_input_a > s1_op_d 4", "s1_output_0 Output: d | 12",
                  "s1_op_d > s1_output_0"));
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
  EXPECT_THAT(sketch_lines(sections[2]), ElementsAre("more_nodes ... 1 more node ..."));
}

}  // namespace
}  // namespace torch_ir
