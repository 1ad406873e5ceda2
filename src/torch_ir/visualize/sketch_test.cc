#include "torch_ir/visualize/sketch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/resolve.h"
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
    std::string operator()(const PartFrame& frame) const { return frame.id + " {" + frame.title; }
    std::string operator()(const PartFrameEnd&) const { return "}"; }
  };
  std::vector<std::string> result;
  for (const auto& mark : sketch) result.push_back(std::visit(Line(), mark));
  return result;
}

std::vector<std::string> draw(const IR& ir, const SketchLimits& limits = {}) {
  const Program program = resolve(ir, GraphChecks::kStructure);
  const Sketchbook book(program);
  return sketch_lines(book.draw_nodes(book.root(), limits));
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
                                                     "scalar and 2 more"));
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

IR chain(size_t length) { return chain_of(std::vector<ChainNode>(length, {"aten.relu.default"})); }

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

// "embed", layers of "norm", two nodes of their own and "mlp", and "head".
IR model_of_layers(int num_layers) {
  TestGraphBuilder graph("M");
  graph.input("x", {4});
  std::vector<std::string> modules;
  std::string last = "x";
  const auto add = [&](const std::string& op, const std::string& module, const std::string& other) {
    const std::string name = "n" + std::to_string(modules.size());
    graph.op(name, "aten." + op, other.empty() ? std::vector{last} : std::vector{last, other}, {4});
    modules.push_back(module);
    last = name;
  };
  add("tanh.default", "embed", "");
  for (int i = 0; i < num_layers; ++i) {
    const std::string layer = "encoder.layers." + std::to_string(i);
    const std::string residual = last;
    add("layer_norm.default", layer + ".norm", "");
    for (int k = 0; k < 3; ++k) add("relu.default", layer + ".mlp", "");
    add("neg.default", layer + ".mlp", "");
    add("add.Tensor", layer, residual);
  }
  add("sigmoid.default", "head", "");
  IR ir = graph.output(last).build();
  for (size_t i = 0; i < modules.size(); ++i) ir.nodes[i].module = modules[i];
  return ir;
}

std::vector<std::string> draw_folded(const IR& ir, const std::string& module, int64_t depth) {
  const Program program = resolve(ir, GraphChecks::kStructure);
  const Sketchbook book(program, module);
  return sketch_lines(book.draw(book.root(), depth));
}

TEST(SketchbookTest, FoldsEqualModules) {
  EXPECT_THAT(draw_folded(model_of_layers(12), "", 1),
              ElementsAre("input_x Input: x | 4", "op_n0 embed: tanh | 4",
                          "part_encoder_layers_0_11 encoder.layers.0-11 ×12 | 72 nodes",
                          "op_n73 head: sigmoid | 4", "output_0 Output | 4", "input_x > op_n0 4",
                          "op_n0 > part_encoder_layers_0_11 4",
                          "part_encoder_layers_0_11 > op_n73 4", "op_n73 > output_0"));
}

TEST(SketchbookTest, OpensLevels) {
  EXPECT_THAT(
      draw_folded(model_of_layers(12), "", 2),
      ElementsAre("input_x Input: x | 4", "op_n0 embed: tanh | 4",
                  "in_encoder_layers_0_11 {encoder.layers.0-11 ×12", "op_n1 norm: layer_norm | 4",
                  "part_mlp mlp | 4 nodes", "op_n6 add.Tensor | 4", "}", "op_n73 head: sigmoid | 4",
                  "output_0 Output | 4", "input_x > op_n0 4", "op_n0 > op_n1 4",
                  "op_n1 > part_mlp 4", "part_mlp > op_n6 4", "op_n0 > op_n6 4", "op_n6 > op_n73 4",
                  "op_n73 > output_0"));
}

TEST(SketchbookTest, OpensWhatIsReadable) {
  const IR ir = model_of_layers(12);
  EXPECT_EQ(draw_folded(ir, "", 0), draw_folded(ir, "", 2));
  EXPECT_EQ(draw_folded(model_of_layers(2), "", 0), draw(model_of_layers(2)));
}

TEST(SketchbookTest, DrawsTheInsideOfAModule) {
  EXPECT_THAT(draw_folded(model_of_layers(12), "encoder.layers.7.mlp", 0),
              ElementsAre("input_n43 From: n43 | 4", "op_n44 relu | 4", "input_n43 > op_n44 4",
                          "op_n45 relu | 4", "op_n44 > op_n45 4", "op_n46 relu | 4",
                          "op_n45 > op_n46 4", "op_n47 neg | 4", "op_n46 > op_n47 4",
                          "output_0 Output | 4", "op_n47 > output_0"));
}

TEST(SketchbookTest, FoldsEqualNodesWithoutModules) {
  EXPECT_THAT(draw_folded(chain(100), "", 0),
              ElementsAre("input_x Input: x | 4", "in_relu {relu ×100", "op_n0 relu | 4", "}",
                          "output_0 Output | 4", "input_x > op_n0 4", "op_n0 > output_0"));
}

}  // namespace
}  // namespace torch_ir
