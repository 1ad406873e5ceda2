// Tests the memory that a plan writes, shares and keeps: never the caller's, and no longer than
// needed.

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

TEST(PlanMemory, ReturnsTheSameTensorTwice) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2}));
  const V y = graph.call1("aten.relu.default", {x});
  graph.output(y);
  graph.output(y);
  EXPECT_EQ(difference_from_eager(graph), "");
  const auto outputs = graph.plan().run(graph.inputs);
  EXPECT_TRUE(outputs[0].is_same(outputs[1]));
}

TEST(PlanMemory, WritesToCopiesOfWhatRequiresGradients) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 2}));
  const V w = graph.weight("w", at::randn({2, 2}));
  graph.call("aten.mul_.Tensor", {w, x});
  graph.call("aten.neg_.default", {x});
  // The transposed weight must be the copy of the run.
  graph.output(graph.call1("aten.linear.default", {x, w}));
  graph.weights["w"].requires_grad_();
  graph.inputs[0].requires_grad_();
  EXPECT_EQ(difference_from_eager(graph), "");
  EXPECT_FALSE(graph.plan().run(graph.inputs)[0].requires_grad());
}

TEST(PlanMemory, RunsUnderInferenceModeAndOnItsTensors) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 2}));
  graph.call("aten.neg_.default", {graph.call1("aten.t.default", {x})});
  graph.output(graph.call1("aten.mm.default", {x, graph.weight("w", at::randn({2, 2}))}));
  {
    const c10::InferenceMode inference_mode;
    EXPECT_EQ(difference_from_eager(graph), "");
    graph.inputs[0] = graph.inputs[0].clone();
    // It has no counter of changes.
    graph.weights["w"] = graph.weights["w"].clone();
  }
  EXPECT_TRUE(graph.inputs[0].is_inference() && graph.weights["w"].is_inference());
  EXPECT_EQ(difference_from_eager(graph), "");
}

// Writing to a result must not change what the plan computes next.
TEST(PlanMemory, NeverReturnsItsWeights) {
  EagerGraph graph;
  const V w = graph.weight("w", at::randn({2, 3}));
  graph.output(w);
  graph.output(graph.call1("aten.t.default", {w}));
  graph.output(graph.call1("aten.dropout.default", {w, 0.5, false}));
  for (const bool is_traced : {true, false}) {
    const ExecutionPlan plan = graph.plan({.trace = is_traced});
    for (const at::Tensor& output : plan.run({})) output.zero_();
    EXPECT_TRUE(std::ranges::equal(plan.run({}), graph.expected(), same_bits)) << is_traced;
    EXPECT_FALSE(same_bits(graph.weights["w"], at::zeros({2, 3})));
  }
}

// Two names of one weight stay one weight when a run writes to it.
TEST(PlanMemory, KeepsTiedWeightsTied) {
  EagerGraph graph;
  const at::Tensor base = at::ones({4, 4});
  const V whole = graph.weight("whole", base);
  const V column = graph.weight("column", base.select(1, 2));
  graph.call("aten.mul_.Scalar", {whole, 5.0});
  graph.output(column);
  for (const bool is_traced : {true, false}) {
    const ExecutionPlan plan = graph.plan({.trace = is_traced});
    EXPECT_TRUE(same_bits(plan.run({})[0], at::ones({4}) * 5)) << is_traced;
    EXPECT_TRUE(same_bits(base, at::ones({4, 4})));
  }
}

// A step of a recurrent graph: what it returns, the next one reads.
TEST(PlanMemory, RunsIntoItsInputs) {
  EagerGraph graph;
  const V a = graph.input("a", at::ones({2}));
  const V b = graph.input("b", at::ones({2}));
  const V none = graph.input("none", at::ones({0}));
  graph.output(b);
  graph.output(graph.call1("aten.add.Tensor", {a, b}));
  graph.output(graph.call1("aten.neg.default", {none}));
  for (const bool is_traced : {true, false}) {
    const ExecutionPlan plan = graph.plan({.trace = is_traced});
    std::vector<at::Tensor> state = graph.inputs;
    for (int step = 0; step < 8; ++step) plan.run(state, state);
    EXPECT_TRUE(same_bits(state[0], at::full({2}, 34.0f))) << is_traced;
    EXPECT_TRUE(same_bits(state[1], at::full({2}, 55.0f))) << is_traced;
    const at::Tensor kept = state[1];
    for (int step = 0; step < 2; ++step) plan.run({state[1].view({2}), state[0], state[2]}, state);
    EXPECT_TRUE(same_bits(state[0], at::full({2}, 34.0f))) << is_traced;
    EXPECT_TRUE(same_bits(state[1], at::full({2}, 123.0f))) << is_traced;
    EXPECT_TRUE(same_bits(kept, at::full({2}, 55.0f))) << is_traced;
    state.pop_back();
    EXPECT_ANY_THROW(plan.run(state, state));
    EXPECT_EQ(state.size(), 2);
  }
}

// The view may be a copy, and is one here.
TEST(PlanMemory, FollowsWhatTheGraphMayMutate) {
  EagerGraph graph;
  const V w = graph.weight("w", at::zeros({2, 2}));
  const V turned = graph.call1("aten.t.default", {w});
  graph.call("aten.neg_.default",
             {graph.call1("aten.reshape.default", {turned, Attribute::list({4})})});
  graph.output(graph.call1("aten.exp.default", {w}));
  const ExecutionPlan plan = graph.plan();
  EXPECT_TRUE(same_bits(plan.run({})[0], at::ones({2, 2})));
  graph.weights["w"].fill_(1);
  EXPECT_TRUE(same_bits(plan.run({})[0], at::ones({2, 2}).exp()));
}

// Constant members may be called at once; each computes what it would alone. The run writes to its
// copy of the weight.
TEST(PlanMemory, IsObservedWhileItRuns) {
  EagerGraph graph;
  V x = graph.input("x", at::randn({16, 16}));
  const V w = graph.weight("w", at::randn({16, 16}));
  for (int i = 0; i < 20; ++i) {
    x = graph.call1("aten.tanh.default", {graph.call1("aten.matmul.default", {x, w})});
    graph.call("aten.mul_.Scalar", {w, 0.99});
  }
  graph.output(x);
  const ExecutionPlan plan = graph.plan({.keeps_values = true});
  const std::vector<at::Tensor> expected = graph.expected();
  std::atomic<int> num_right = 0;
  const std::function<void()> run = [&] {
    num_right += same_bits(plan.run(graph.inputs)[0], expected[0]);
  };
  const std::function<void()> uses[] = {
      run, run,
      [&] {
        bool is_right = false;
        plan.observe(graph.inputs, [&](const std::string& name, const at::Tensor& value) {
          if (name == x.name) is_right = same_bits(value, expected[0]);
        });
        num_right += is_right;
      },
      [&] { num_right += plan.memory(graph.inputs).has_value(); },
      [&] { num_right += !plan.profile(graph.inputs, 1).empty(); }};
  std::vector<std::thread> threads;
  for (const auto& use : uses) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) use();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_right, 100);
}

TEST(PlanMemory, ReleasesWhatALastReadingTook) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2}));
  VList parts;
  for (int i = 0; i < 10; ++i) parts.emplace_back(graph.call1("aten.relu.default", {x}));
  const V whole = graph.call1("aten.cat.default", {parts});
  graph.output(graph.call1("aten.relu.default", {graph.call1("aten.neg.default", {whole})}));
  // How many results of relu are alive when it returns one.
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> results;
  std::vector<ptrdiff_t> counts;
  const auto relu = [&](const OpNode&, const std::vector<at::Tensor>& inputs) {
    const at::Tensor output = inputs[0].relu();
    results.emplace_back(output.getIntrusivePtr());
    counts.push_back(std::ranges::count_if(results, [](const auto& it) { return !it.expired(); }));
    return std::vector<at::Tensor>{output};
  };
  register_executor("aten.relu.default", relu);
  const ExecutionPlan plan = graph.plan();
  register_executor("aten.relu.default", {});
  (void)plan.run(graph.inputs);
  ASSERT_EQ(counts.size(), 11);
  EXPECT_EQ(counts[9], 10);
  EXPECT_EQ(counts[10], 1);
}

}  // namespace
}  // namespace torch_ir
