#include "torch_ir/runtime/execution_plan.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/runtime/ir_executor.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

TEST(ExecutionPlan, RunsWhatTheOperatorsCompute) {
  EXPECT_EQ(difference_from_eager(linear_graph()), "");
}

TEST(ExecutionPlan, RunsOperatorsWithSeveralOutputs) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 6}));
  const V gain = graph.weight("gain", at::randn({6}));
  for (const V& part : graph.call("aten.split.Tensor", {x, Attribute(2), Attribute(1)})) {
    graph.output(part);
  }
  for (const V& part : graph.call("aten.topk.default", {x, Attribute(3)})) graph.output(part);
  const auto norm = graph.call("aten.native_layer_norm.default",
                               {x, Attribute::list({6}), gain, std::monostate(), Attribute(1e-5)});
  graph.output(norm[2]);
  graph.output(norm[0]);
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, RunsAnLstm) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({5, 2, 3}));
  const V h = graph.input("h", at::randn({1, 2, 4}));
  const V c = graph.input("c", at::randn({1, 2, 4}));
  const VList parameters = {
      graph.weight("w_ih", at::randn({16, 3})), graph.weight("w_hh", at::randn({16, 4})),
      graph.weight("b_ih", at::randn({16})), graph.weight("b_hh", at::randn({16}))};
  for (const V& result :
       graph.call("aten.lstm.input",
                  {x, VList{h, c}, parameters, Attribute(true), Attribute(1), Attribute(0.0),
                   Attribute(false), Attribute(false), Attribute(false)})) {
    graph.output(result);
  }
  EXPECT_EQ(difference_from_eager(graph), "");
}

// The graph has no output for results that an operator was asked not to compute.
TEST(ExecutionPlan, RunsOperatorsThatLeaveOutputsUndefined) {
  EagerGraph graph;
  const V gradient = graph.input("gradient", at::randn({1, 3, 4, 4}));
  const V x = graph.input("x", at::randn({1, 2, 4, 4}));
  const V w = graph.weight("w", at::randn({3, 2, 3, 3}));
  const auto pair = [](int value) { return Attribute::list({value, value}); };
  const auto results =
      graph.call("aten.convolution_backward.default",
                 {gradient, x, w, Attribute::list({3}), pair(1), pair(1), pair(1), Attribute(false),
                  pair(0), Attribute(1), Attribute::list({true, false, true})});
  ASSERT_EQ(results.size(), 2);
  graph.output(results[0]);
  graph.output(results[1]);
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, PassesNoneInListsAndForOptionalTensors) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 5}));
  const V index = graph.weight("index", at::arange(0, 5, 2));
  const V bias = graph.weight("bias", at::randn({5}));
  graph.output(graph.call1("aten.index.Tensor", {x, VList{std::nullopt, index}}));
  graph.output(
      graph.call1("aten.layer_norm.default", {x, Attribute::list({5}), std::monostate(), bias}));
  graph.output(graph.call1("aten.clamp.Tensor", {x, std::monostate(), bias}));
  EXPECT_EQ(difference_from_eager(graph), "");
}

// A number in place of a tensor takes no part in type promotion.
TEST(ExecutionPlan, PassesNumbersForTensors) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({3}).to(at::kHalf));
  const V n = graph.input("n", at::arange(3));
  graph.output(graph.call1("aten.div.Tensor", {x, Attribute(4.0)}));
  graph.output(graph.call1("aten.mul.Tensor", {n, Attribute(2)}));
  graph.output(graph.call1("aten.add.Tensor", {n, Attribute(0.5)}));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, RunsOperatorsWithoutTensors) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V steps = graph.call1("aten.arange.start_step",
                              {Attribute(0), Attribute(8), Attribute(2), Attribute(at::kFloat),
                               std::monostate(), Attribute(c10::Device(c10::kCPU))});
  const V fill = graph.call1("aten.full.default",
                             {Attribute::list({4}), Attribute(1.5), Attribute(at::kDouble)});
  graph.output(graph.call1("aten.add.Tensor", {x, steps}));
  graph.output(graph.call1("aten.mul.Tensor", {x, fill}));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, TakesTheMetaDeviceForItsOwn) {
  EagerGraph graph;
  graph.output(
      graph.call1("aten.ones.default", {Attribute::list({2}), Attribute(at::kFloat),
                                        std::monostate(), Attribute(c10::Device(c10::kCPU))}));
  graph.ir.nodes[0].attrs.set("device", Attribute(c10::Device(c10::kMeta)));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, RunsAGraphWithoutNodes) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2}));
  graph.output(x);
  graph.output(graph.weight("w", at::randn({3})));
  EXPECT_EQ(difference_from_eager(graph), "");
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  EXPECT_TRUE(plan.run(graph.inputs)[0].is_same(graph.inputs[0])) << "an input is returned as is";
}

TEST(ExecutionPlan, RunsGetitem) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const auto parts = graph.call("aten.split.Tensor", {x, Attribute(2)});
  OpNode node;
  node.name = "getitem_1";
  node.op_type = "<built-in function getitem>";
  for (size_t i = 0; i < parts.size(); ++i) {
    TensorMeta part = graph.ir.nodes[0].outputs[i];
    part.producer_node = "n0";
    part.producer_output_idx = static_cast<int64_t>(i);
    node.inputs.push_back(part);
  }
  node.attrs.set("index", Attribute(1));
  node.outputs.push_back(node.inputs[1]);
  node.outputs[0].name = "getitem_1";
  node.outputs[0].producer_node.reset();
  node.outputs[0].producer_output_idx = 0;
  graph.ir.nodes.push_back(node);
  graph.ir.graph_outputs.push_back(node.outputs[0]);
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  EXPECT_TRUE(same_bits(plan.run(graph.inputs)[0], graph.value(parts[1])));
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
  StateDict weights;
  weights.insert("sum", at::tensor({1.f, 2.f}));
  const at::Tensor x = at::tensor({3.f, -4.f});
  for (const Optimization level : {Optimization::kExact, Optimization::kFast}) {
    for (const bool trace : {true, false}) {
      const ExecutionPlan plan =
          compile(ir, weights, StateDict(), {.optimization = level, .device = {}, .trace = trace});
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

TEST(ExecutionPlan, PrefersRegisteredOpHandlers) {
  const EagerGraph graph = linear_graph();
  register_executor("aten.linear.default",
                    [](const OpNode& node, const std::vector<at::Tensor>& inputs) {
                      EXPECT_EQ(node.name, "n0");
                      return std::vector<at::Tensor>{inputs[2].neg()};
                    });
  const at::Tensor output = compile(graph.ir, graph.weights).run(graph.inputs)[0];
  register_executor("aten.linear.default", {});
  EXPECT_TRUE(same_bits(output, -graph.value({"p_linear.bias"})));
  EXPECT_EQ(difference_from_eager(graph), "");
}

}  // namespace
}  // namespace torch_ir
