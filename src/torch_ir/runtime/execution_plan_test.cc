#include "torch_ir/runtime/execution_plan.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "torch_ir/ir/testing/test_graphs.h"
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
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
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

}  // namespace
}  // namespace torch_ir
