#include "torch_ir/runtime/execution_plan.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/runtime/ir_executor.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

TEST(ExecutionPlan, TakesTheMetaDeviceForItsOwn) {
  EagerGraph graph;
  graph.output(graph.call1("aten.ones.default", {Attribute::list({2}), at::kFloat, std::monostate(),
                                                 c10::Device(c10::kCPU)}));
  graph.ir.nodes[0].attrs.set("device", Attribute(c10::Device(c10::kMeta)));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, RunsAGraphWithoutNodes) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2}));
  graph.output(x);
  graph.output(graph.weight("w", at::randn({3})));
  EXPECT_EQ(difference_from_eager(graph), "");
  const ExecutionPlan plan = graph.plan();
  EXPECT_TRUE(plan.run(graph.inputs)[0].is_same(graph.inputs[0])) << "an input is returned as is";
}

TEST(ExecutionPlan, RunsGetitem) {
  const IR ir = TestGraphBuilder("Parts")
                    .input("x", {4})
                    .multi_op("split", "aten.split.Tensor", {"x"}, {{2}, {2}}, {{"split_size", 2}})
                    .op("getitem_1", "<built-in function getitem>", {"split_0", "split_1"}, {2},
                        {{"index", 1}})
                    .output("getitem_1")
                    .build();
  const ExecutionPlan plan = compile(ir, StateDict());
  const at::Tensor x = at::randn({4});
  EXPECT_TRUE(same_bits(plan.run({x})[0], x.narrow(0, 2, 2)));
  EXPECT_TRUE(plan.not_replayed().empty());
}

TEST(ExecutionPlan, ReturnsTheStateAndLeavesTheWeights) {
  IR ir = TestGraphBuilder("Sums")
              .input("x", {2})
              .weight("b_sum", "sum", {2})
              .op("add_", "aten.add_.Tensor", {"b_sum", "x"}, {2})
              .op("relu_", "aten.relu_.default", {"x"}, {2})
              .op("mul", "aten.mul.Tensor", {"x", "b_sum"}, {2})
              .output("mul")
              .build();
  ir.state = {"b_sum", "x"};
  const StateDict weights{{"sum", at::tensor({1.f, 2.f})}};
  const at::Tensor x = at::tensor({3.f, -4.f});
  for (const Optimization level : {Optimization::kExact, Optimization::kFast}) {
    for (const bool trace : {true, false}) {
      const ExecutionPlan plan =
          compile(ir, weights, StateDict(), {.optimization = level, .trace = trace});
      for (int run = 0; run < 3; ++run) {
        const std::vector<at::Tensor> outputs = plan.run({x});
        ASSERT_EQ(outputs.size(), 3);
        EXPECT_TRUE(at::equal(outputs[0], at::tensor({12.f, 0.f})));
        EXPECT_TRUE(at::equal(outputs[1], at::tensor({4.f, -2.f})));
        EXPECT_TRUE(at::equal(outputs[2], at::tensor({3.f, 0.f})));
      }
    }
  }
  EXPECT_TRUE(at::equal(weights["sum"], at::tensor({1.f, 2.f})));
  EXPECT_TRUE(at::equal(x, at::tensor({3.f, -4.f})));
  EXPECT_EQ(execute_ir(ir, {x}, {.weights = weights}).size(), 1);
}

// Single calls are cases of models/operators; these two have none there.
TEST(ExecutionPlan, RunsOperatorsWithoutACase) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3, 8, 8}));
  graph.output(graph.call1("aten.quantile.scalar", {x, 0.3}));
  for (const V& part : graph.call("aten.tensor_split.indices", {x, Attribute::list({1, 5}), 3})) {
    graph.output(part);
  }
  EXPECT_EQ(difference_from_eager(graph), "");
}

// No node can read such a result, and the graph does not list it.
TEST(ExecutionPlan, RunsOperatorsWhoseResultsAreNoTensors) {
  const std::pair<const char*, std::vector<EagerArgument>> calls[] = {
      {"aten.result_type.Tensor", {V{"x"}, V{"y"}}},
      {"aten.is_same_size.default", {V{"x"}, V{"y"}}},
      {"aten.equal.default", {V{"x"}, V{"y"}}},
      // Four tensors and a number.
      {"aten._batch_norm_impl_index.default",
       {V{"x"}, V{"p_w"}, V{"p_w"}, V{"p_w"}, V{"p_w"}, false, 0.1, 1e-5, false}},
  };
  for (const auto& [op_type, arguments] : calls) {
    SCOPED_TRACE(op_type);
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 3}));
    const V y = graph.input("y", at::randn({2, 3}));
    graph.weight("w", at::ones({3}));
    for (const V& result : graph.call(op_type, arguments)) graph.output(result);
    const V sum = graph.call1("aten.add.Tensor", {x, y});
    graph.output(sum);
    EXPECT_EQ(difference_from_eager(graph), "");
    for (const bool trace : {true, false}) {
      const ExecutionPlan plan = graph.plan({.trace = trace});
      EXPECT_TRUE(same_bits(plan.run_checked(graph.inputs).back(), graph.value(sum)));
    }
    NodeRun run(graph.as_case());
    EXPECT_TRUE(same_bits(run.value(sum.name), graph.value(sum)));
  }
}

// --- Linear layers, which eager decomposes into transposes, expansions and matrix products ---

std::string linear_difference(const at::Tensor& input, const at::Tensor& weight,
                              const at::Tensor& bias) {
  EagerGraph graph;
  const V x = graph.input("x", input);
  const V w = graph.weight("w", weight);
  const V b = graph.weight("b", bias);
  graph.output(graph.call1("aten.linear.default", {x, w, b}));
  return difference_from_eager(graph);
}

TEST(Linear, GivesTheBitsOfTheOperator) {
  const std::vector<std::vector<int64_t>> shapes = {{8},       {1, 8},      {5, 8},    {0, 8},
                                                    {2, 3, 8}, {1, 1, 8},   {2, 0, 8}, {64, 3, 8},
                                                    {300, 8},  {2, 2, 3, 8}};
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const auto& shape : shapes) {
      EXPECT_EQ(linear_difference(at::randn(shape).to(type), at::randn({7, 8}).to(type),
                                  at::randn({7}).to(type)),
                "")
          << dtype_name(type) << " [" << shape_text(shape) << "]";
    }
  }
  // Any strides.
  const at::Tensor weight = at::randn({8, 7}).t();
  const at::Tensor bias = at::randn({14}).slice(0, 0, 14, 2);
  for (const at::Tensor& input :
       {at::randn({8, 5}).t(), at::randn({3, 2, 8}).transpose(0, 1),
        at::randn({8, 3, 2}).permute({2, 1, 0}), at::randn({1, 8}).expand({4, 8}),
        at::randn({2, 3, 16}).slice(2, 0, 16, 2)}) {
    EXPECT_EQ(linear_difference(input, weight, bias), "");
  }
}

// LibTorch folds the batch of such an input into its rows only if the weight is trainable.
TEST(Linear, OfATrainableWeightIsThatOfEager) {
  for (const bool is_trainable : {false, true}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 17, 32}).slice(1, 0, 1));
    const V w = graph.weight("w", at::randn({128, 32}).requires_grad_(is_trainable));
    const V b = graph.weight("b", at::randn({128}).requires_grad_(is_trainable));
    const V turned = graph.call1("aten.t.default", {w});
    graph.output(graph.call1("aten.linear.default", {x, w, b}));
    graph.output(graph.call1("aten.matmul.default", {x, turned}));
    graph.output(graph.call1("aten.relu.default", {turned}));
    EXPECT_EQ(difference_from_eager(graph), "") << is_trainable;
    // Weights of a file.
    for (auto& weight : graph.weights) weight.value() = weight.value().detach().clone();
    EXPECT_EQ(difference_from_eager(graph), "") << is_trainable;
    const std::vector<at::Tensor> outputs = run_program(graph.as_case());
    EXPECT_TRUE(std::ranges::equal(outputs, graph.expected(), same_bits)) << is_trainable;
    for (const at::Tensor& output : outputs) EXPECT_FALSE(output.requires_grad());
    EXPECT_FALSE(graph.weights["w"].requires_grad());
  }
}

}  // namespace
}  // namespace torch_ir
