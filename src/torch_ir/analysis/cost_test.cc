#include "torch_ir/analysis/cost.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <utility>

#include "torch_ir/analysis/multiply_adds.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Shapes = std::vector<Shape>;

Attribute integers(const std::vector<int64_t>& values) { return Attribute::list(values); }

Program structure_of(const TestGraphBuilder& graph) {
  return resolve(graph.build(), GraphChecks::kStructure);
}

// The cost of one node, on inputs of these shapes. A list of tensors takes all of them.
GraphCost cost_of_call(const std::string& op_type, const Shapes& inputs, const Shape& output,
                       AttributeMap attrs = {}) {
  TestGraphBuilder graph("Call");
  std::vector<std::string> names;
  for (const Shape& shape : inputs) {
    names.push_back("x" + std::to_string(names.size()));
    graph.input(names.back(), shape);
  }
  graph.op("y", op_type, names, output, std::move(attrs)).output("y");
  return cost_of(structure_of(graph));
}

std::optional<int64_t> multiply_adds(const std::string& op_type, const Shapes& inputs,
                                     const Shape& output, AttributeMap attrs = {}) {
  return cost_of_call(op_type, inputs, output, std::move(attrs)).nodes.at(0).multiply_adds;
}

TEST(Cost, CountsMatrixProductsAndAttentionAsPython) {
  // Half of the counts of torch.utils.flop_counter of PyTorch 2.13 for these calls.
  EXPECT_EQ(multiply_adds("aten.mm.default", {{2, 3}, {3, 5}}, {2, 5}), 30);
  EXPECT_EQ(multiply_adds("aten.addmm.default", {{5}, {2, 3}, {3, 5}}, {2, 5}), 30);
  EXPECT_EQ(multiply_adds("aten.bmm.default", {{4, 2, 3}, {4, 3, 5}}, {4, 2, 5}), 120);
  EXPECT_EQ(multiply_adds("aten.baddbmm.default", {{4, 2, 5}, {4, 2, 3}, {4, 3, 5}}, {4, 2, 5}),
            120);
  EXPECT_EQ(multiply_adds("aten.matmul.default", {{7, 1, 2, 3}, {4, 3, 5}}, {7, 4, 2, 5}), 840);
  EXPECT_EQ(multiply_adds("aten.matmul.default", {{3}, {4, 3, 5}}, {4, 5}), 60);
  EXPECT_EQ(multiply_adds("aten.matmul.default", {{2, 3}, {4, 3, 5}}, {4, 2, 5}), 120);
  EXPECT_EQ(multiply_adds("aten.linear.default", {{2, 7, 3}, {5, 3}, {5}}, {2, 7, 5}), 210);
  EXPECT_EQ(multiply_adds("aten.tensordot.default", {{2, 3, 4}, {4, 3, 5}}, {2, 5},
                          {{"dims_self", integers({1, 2})}, {"dims_other", integers({1, 0})}}),
            120);
  EXPECT_EQ(multiply_adds("aten.scaled_dot_product_attention.default",
                          {{2, 4, 6, 8}, {2, 4, 10, 8}, {2, 4, 10, 16}}, {2, 4, 6, 16}),
            11520);
}

TEST(Cost, CountsSumsOverIndicesAsPython) {
  const auto einsum = [](const char* equation, const Shapes& inputs, const Shape& output) {
    return multiply_adds("aten.einsum.default", inputs, output,
                         {{"equation", equation}, {"_tensor_list_sizes", integers({2})}});
  };
  EXPECT_EQ(einsum("bhid,bhjd->bhij", {{2, 3, 4, 5}, {2, 3, 6, 5}}, {2, 3, 4, 6}), 720);
  EXPECT_EQ(einsum("...ij, ...jk -> ...ik", {{2, 1, 4, 5}, {3, 5, 6}}, {2, 3, 4, 6}), 720);
  EXPECT_EQ(einsum("ij,jk", {{2, 3}, {3, 4}}, {2, 4}), 24);
  EXPECT_EQ(einsum("i,j->ij", {{3}, {4}}, {3, 4}), 0);
  EXPECT_EQ(einsum("bij,bjk->bk", {{2, 3, 4}, {2, 4, 5}}, {2, 5}), 40);
}

TEST(Cost, CountsConvolutionsAsPython) {
  EXPECT_EQ(multiply_adds("aten.conv2d.default", {{2, 4, 9, 8}, {6, 2, 3, 3}, {6}}, {2, 6, 4, 3},
                          {{"groups", 2}}),
            2592);
  EXPECT_EQ(multiply_adds("aten.conv1d.default", {{3, 4, 10}, {5, 4, 3}}, {3, 5, 8}), 1440);
  EXPECT_EQ(
      multiply_adds("aten.conv3d.default", {{1, 2, 4, 5, 6}, {3, 2, 2, 2, 2}}, {1, 3, 3, 4, 5}),
      2880);
  EXPECT_EQ(multiply_adds("aten.conv_transpose2d.input", {{2, 4, 5, 6}, {4, 3, 3, 3}},
                          {2, 6, 11, 13}, {{"groups", 2}}),
            6480);
  EXPECT_EQ(multiply_adds("aten.convolution.default", {{2, 4, 5, 6}, {4, 3, 3, 3}}, {2, 6, 11, 13},
                          {{"stride", integers({2, 2})},
                           {"padding", integers({0, 0})},
                           {"dilation", integers({1, 1})},
                           {"transposed", true},
                           {"output_padding", integers({0, 0})},
                           {"groups", 2}}),
            6480);
}

TEST(Cost, CountsRecurrentLayersAsPython) {
  const auto attrs = [](const std::vector<int64_t>& list_sizes) -> AttributeMap {
    return {{"has_biases", true},
            {"num_layers", 1},
            {"dropout", 0.0},
            {"train", false},
            {"bidirectional", false},
            {"batch_first", false},
            {"_tensor_list_sizes", integers(list_sizes)}};
  };
  EXPECT_EQ(multiply_adds("aten.lstm.input",
                          {{6, 3, 5}, {1, 3, 3}, {1, 3, 7}, {28, 5}, {28, 3}, {28}, {28}, {3, 7}},
                          {6, 3, 3}, attrs({2, 5})),
            4410);
  EXPECT_EQ(multiply_adds("aten.rnn_tanh.input", {{6, 3, 5}, {1, 3, 7}, {7, 5}, {7, 7}, {7}, {7}},
                          {6, 3, 7}, attrs({4})),
            1512);
  EXPECT_EQ(multiply_adds("aten.lstm_cell.default",
                          {{3, 5}, {3, 7}, {3, 7}, {28, 5}, {28, 7}, {28}, {28}}, {3, 7},
                          {{"_tensor_list_sizes", integers({2})}}),
            1008);
}

// x [s0, 3] times a weight [3, 5].
Program dynamic_product() {
  TestGraphBuilder graph("Dynamic");
  graph.input("x", {1, 3}).weight("p_w", "w", {3, 5});
  graph.op("y", "aten.mm.default", {"x", "p_w"}, {1, 5}).output("y");
  Program program = structure_of(graph);
  for (const char* name : {"x", "y"}) {
    Value& value = program[*program.find(name)];
    value.shape[0] = kDynamicSize;
    value.symbolic_shape = {"s0", ""};
  }
  return program;
}

// The multiply-adds of a product of matrices that no memory could hold.
std::optional<int64_t> product_of_squares(int64_t width) {
  TestGraphBuilder graph("Call");
  graph.input("a", {1, 1}).op("y", "aten.mm.default", {"a", "a"}, {1, 1}).output("y");
  Program program = structure_of(graph);
  for (Value& value : program.values) value.shape = {width, width};
  return cost_of(program).nodes.at(0).multiply_adds;
}

TEST(Cost, NamesWhatItDoesNotKnowAndCountsBeyondTheDoubles) {
  const GraphCost cost = cost_of_call("my.product.default", {{2, 3}}, {2, 3});
  EXPECT_EQ(cost.nodes[0].multiply_adds, std::nullopt);
  EXPECT_FALSE(cost.operators[0].is_counted);
  EXPECT_EQ(not_counted_text(cost.totals),
            "not counted: my.product.default (1 node), unknown operator");
  const GraphCost dynamic = cost_of(dynamic_product());
  EXPECT_EQ(not_counted_text(dynamic.totals),
            "not counted: aten.mm.default (1 node), sizes differ from run to run");
  EXPECT_EQ(dynamic.totals.num_unknown_sizes, 2);
  // 2^22 * 2^22 * 2^22 is beyond 64 bits.
  EXPECT_EQ(product_of_squares(int64_t{1} << 22), std::nullopt);
  const int64_t width = (int64_t{1} << 20) + 1;
  EXPECT_EQ(product_of_squares(width), width * width * width);
}

TEST(Cost, CountsAtTheSizesOfARun) {
  Program program = dynamic_product();
  const CostTotals totals = cost_of(at_sizes(program, {{"s0", 4}})).totals;
  EXPECT_EQ(totals.multiply_adds, 60);
  EXPECT_EQ(totals.input_bytes, 48);
  EXPECT_EQ(totals.peak_bytes, 80);
  EXPECT_THAT(totals.not_counted, IsEmpty());
  EXPECT_FALSE(cost_of(at_sizes(program, {{"s1", 4}})).totals.not_counted.empty());

  Graph inner;
  inner.values = program.values;
  program.nodes[0].graphs = {inner};
  const Program sized = at_sizes(program, {{"s0", 4}});
  EXPECT_THAT(sized.nodes[0].graphs[0].values[0].shape, ElementsAre(4, 3));
}

// x [2, 3] -> relu 24 bytes -> view of it -> linear [2, 4], 32 bytes -> neg 32 bytes
TEST(Cost, FindsTheLargestValueAndTheSmallestPeak) {
  TestGraphBuilder graph("Chain");
  graph.input("x", {2, 3}).weight("p_w", "w", {4, 3}).weight("p_b", "b", {4});
  graph.op("relu", "aten.relu.default", {"x"}, {2, 3});
  graph.op("view", "aten.view.default", {"relu"}, {2, 3}, {{"size", integers({2, 3})}});
  graph.op("linear", "aten.linear.default", {"view", "p_w", "p_b"}, {2, 4});
  graph.op("neg", "aten.neg.default", {"linear"}, {2, 4});
  graph.output("neg").output("relu");
  const Program program = structure_of(graph);
  const GraphCost cost = cost_of(program);
  EXPECT_EQ(cost.totals.multiply_adds, 24);
  EXPECT_EQ(cost.totals.input_bytes, 24);
  EXPECT_EQ(cost.totals.weight_bytes, 64);
  EXPECT_EQ(cost.totals.largest_value, "linear");
  EXPECT_EQ(cost.totals.largest_bytes, 32);
  // The output relu stays beside linear and neg.
  EXPECT_EQ(cost.totals.peak_bytes, 24 + 32 + 32);
  EXPECT_EQ(cost.totals.peak_node, "neg");
  EXPECT_THAT(cost.nodes[2].weights, ElementsAre(*program.find("p_w"), *program.find("p_b")));
  EXPECT_THAT(cost.nodes[0].weights, testing::IsEmpty());
  EXPECT_THAT(cost.totals.not_counted, IsEmpty());
}

TEST(Cost, LetsGoOfWhatIsReadNoMore) {
  const IR chain = chain_of(std::vector<ChainNode>(5, {"aten.neg.default"}));
  EXPECT_EQ(cost_of(resolve(chain)).totals.peak_bytes, 32);
}

TEST(Cost, CountsAWeightOnceForAnOperator) {
  TestGraphBuilder graph("Tied");
  graph.input("x", {2, 4}).weight("p_w", "w", {4, 4});
  graph.op("t", "aten.t.default", {"p_w"}, {4, 4});
  graph.op("a", "aten.mm.default", {"x", "t"}, {2, 4});
  graph.op("b", "aten.mm.default", {"a", "p_w"}, {2, 4}).output("b");
  const Program program = structure_of(graph);
  const GraphCost cost = cost_of(program);
  EXPECT_THAT(cost.nodes[1].weights, ElementsAre(*program.find("p_w")));
  // Nodes, multiply-adds, whether all are known, parameters, bytes of outputs.
  EXPECT_THAT(cost.operators[0], testing::FieldsAre("aten.mm.default", 2, 64, true, 16, 64));
}

TEST(Cost, DoesNotGuessHowOftenALoopRuns) {
  TestGraphBuilder inner("Body");
  inner.input("a", {2, 2}).op("mm", "aten.mm.default", {"a", "a"}, {2, 2}).output("mm");
  TestGraphBuilder graph("Loop");
  graph.input("x", {2, 2});
  graph.op("loop", "higher_order.while_loop", {"x"}, {2, 2}).output("loop");
  IR ir = graph.build();
  TestGraphBuilder condition("Condition");
  condition.input("b", {2, 2}).op("c", "aten.any.default", {"b"}, {}).output("c");
  ir.nodes[0].graphs = {condition.build(), inner.build()};
  ir.nodes[0].graphs[0].nodes[0].outputs[0].dtype = "bool";
  ir.nodes[0].graphs[0].graph_outputs[0].dtype = "bool";
  const GraphCost cost = cost_of(resolve(ir, GraphChecks::kStructure));
  EXPECT_EQ(cost.totals.multiply_adds, 0);
  EXPECT_EQ(
      not_counted_text(cost.totals),
      "not counted: higher_order.while_loop (1 node), the number of iterations depends on data");
  ASSERT_EQ(cost.operators.size(), 3);
  EXPECT_EQ(cost.operators[0].multiply_adds, 8);
}

// Every operator of the registry's graphs is known.
TEST(Cost, KnowsTheRegistry) {
  std::map<std::string, int64_t> counted;
  for (const auto& file : std::filesystem::directory_iterator("reports/reference/ir")) {
    const IR ir = IR::load(file.path().string());
    const CostTotals totals = cost_of(resolve(ir)).totals;
    EXPECT_EQ(not_counted_text(totals), "") << file.path();
    counted[ir.model_name] = totals.multiply_adds;
  }
  // 3 -> 32 channels at 32 x 32, six times 32 -> 32, and 32 -> 10.
  EXPECT_EQ(counted["DeepResNet"], 1024 * (32 * 27 + 6 * 32 * 288) + 320);
}

TEST(Cost, IsQuickForLargeGraphs) {
  constexpr int kNodes = 100'000;
  TestGraphBuilder builder("Large");
  builder.input("n0", {8, 8}).weight("p_w", "w", {8, 8});
  std::string last = "n0";
  for (int i = 1; i <= kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    builder.op(name, "aten.mm.default", {std::exchange(last, name), "p_w"}, {8, 8});
  }
  const IR ir = builder.output(last).build();
  EXPECT_EQ(cost_of(resolve(ir)).totals.multiply_adds, int64_t{512} * kNodes);
}

// What an operator does in place, or answers without a tensor, is as known as what it returns.
TEST(Cost, KnowsOperatorsByWhatTheyAreFormsOf) {
  for (const char* known :
       {"aten.add.Tensor", "aten.relu_.default", "aten.view.default", "aten.softmax.int",
        "aten.detach_.default", "aten.unsqueeze_.default", "aten.t_.default",
        "aten.squeeze_copy.dim", "aten.promote_types.default", "aten.can_cast.default",
        "aten.broadcast_tensors.default", "aten.stft.center", "aten.fft_rfft.default"}) {
    EXPECT_EQ(find_formula(known), no_multiply_adds) << known;
  }
  EXPECT_EQ(find_formula("aten.linalg_inv.default"), nullptr);
  // Known although no library here defines it: 5 rows of 4, and 3 experts of 4 x 6.
  TestGraphBuilder graph("Experts");
  graph.input("x", {5, 4}).input("w", {3, 4, 6});
  graph.op("y", "transformers.grouped_mm_fallback.default", {"x", "w"}, {5, 6}).output("y");
  IR ir = graph.build();
  ir.nodes[0].inputs[0].arg = "input";
  ir.nodes[0].inputs[1].arg = "weight";
  EXPECT_EQ(cost_of(resolve(ir, GraphChecks::kStructure)).totals.multiply_adds, 120);
}

TEST(Cost, FindsTheFormulasOfAllRows) {
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    EXPECT_NO_THROW(find_formula(op_type_name(name))) << name;
  }
}

TEST(BytesText, HasThreeDigits) {
  EXPECT_EQ(bytes_text(12), "12 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1'000), "1 kB");
  EXPECT_EQ(bytes_text(1'234'567), "1.23 MB");
  EXPECT_EQ(bytes_text(999'900), "1 MB");
  EXPECT_EQ(bytes_text(2'000'000'000'000), "2 TB");
}

}  // namespace
}  // namespace torch_ir
