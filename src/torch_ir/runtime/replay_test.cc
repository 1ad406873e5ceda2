// Tests replays: the calls they make, the memory they use, and that no run disturbs another.

#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/zeros.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

// tanh(x w^t + b), of which only the transpose can be computed beforehand.
EagerGraph linear_tanh() {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 8}));
  const V w = graph.weight("w", at::randn({4, 8}));
  const V b = graph.weight("b", at::randn({4}));
  graph.output(graph.call1("aten.tanh.default", {graph.call1("aten.linear.default", {x, w, b})}));
  return graph;
}

std::vector<std::string> calls_of(const EagerGraph& graph) {
  std::vector<std::string> calls;
  for (const NodeProfile& node : graph.plan().profile(graph.inputs, 1)) {
    calls.insert(calls.end(), node.calls.begin(), node.calls.end());
  }
  return calls;
}

void expect_replayed(const EagerGraph& graph) {
  EXPECT_TRUE(graph.plan().memory(graph.inputs).has_value());
  EXPECT_EQ(difference_from_eager(graph), "");
}

void expect_arena(const EagerGraph& graph, int64_t bytes) {
  EXPECT_EQ(graph.plan().memory(graph.inputs)->arena, bytes);
  EXPECT_EQ(difference_from_eager(graph), "");
}

using Calls = std::vector<std::string>;

TEST(Replay, CallsWhatEagerCalls) {
  EXPECT_EQ(calls_of(linear_tanh()), (Calls{"aten::addmm", "aten::tanh"}));
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3, 4}));
  const V y = graph.call1("aten.transpose.int", {x, 1, 2});
  graph.output(graph.call1("aten.matmul.default", {x, y}));
  EXPECT_EQ(calls_of(graph), Calls{"aten::bmm"});
}

// A constant that is written later is not a constant.
TEST(Replay, ComputesAgainWhatIsWritten) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V w = graph.weight("w", at::randn({4}));
  const V scaled = graph.call1("aten.mul.Tensor", {w, w});
  graph.call("aten.add_.Tensor", {scaled, x});
  graph.output(scaled);
  EXPECT_EQ(calls_of(graph), (Calls{"aten::mul", "aten::add_"}));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(Replay, FoldsWhatIsNotWritten) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V w = graph.weight("w", at::randn({4}));
  const V state = graph.weight("state", at::zeros({4}));
  const V scaled = graph.call1("aten.mul.Tensor", {w, w});
  graph.output(graph.call1("aten.add_.Tensor", {state, x}));
  graph.output(graph.call1("aten.add.Tensor", {x, scaled}));
  // The state is copied in each run.
  EXPECT_EQ(calls_of(graph), (Calls{"aten::clone", "aten::add_", "aten::add"}));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(Replay, LeavesOutWhatNobodyReads) {
  EagerGraph graph = linear_tanh();
  graph.call1("aten.exp.default", {V{"x"}});
  EXPECT_EQ(calls_of(graph), (Calls{"aten::addmm", "aten::tanh"}));
}

TEST(Replay, TellsItsMemory) {
  EagerGraph graph;
  V value = graph.input("x", at::randn({1024}));
  for (int i = 0; i < 6; ++i) {
    value = graph.call1("aten.cumsum.default", {value, 0});
  }
  graph.output(value);
  const PlanMemory memory = *graph.plan().memory(graph.inputs);
  const ExecutionPlan untraced = graph.plan({.trace = false});
  EXPECT_FALSE(untraced.memory(graph.inputs).has_value());
  EXPECT_EQ(memory.intermediates, 6 * 4096);
  EXPECT_EQ(memory.arena, 2 * 4096);
  EXPECT_EQ(memory.lower_bound, 2 * 4096);
}

// A pointwise result takes the place of an input that nothing reads later.
TEST(Replay, WritesOverDyingInputs) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1024}));
  const V a = graph.call1("aten.exp.default", {x});
  const V b = graph.call1("aten.tanh.default", {a});
  const V c = graph.call1("aten.mul.Tensor", {b, x});
  graph.output(graph.call1("aten.add.Tensor", {c, c}));
  expect_arena(graph, 4096);
}

// The second operand of the sum has another layout; if the first is the same memory, it is also
// read in another order.
TEST(Replay, WritesOverNothingOfAnotherLayout) {
  for (const bool is_same : {true, false}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({32, 32}));
    const V a = graph.call1("aten.exp.default", {x});
    const V turned = graph.call1("aten.t.default", {a});
    const V sum = graph.call1("aten.add.Tensor", {is_same ? a : x, turned});
    graph.output(graph.call1("aten.tanh.default", {sum}));
    expect_arena(graph, 2 * 4096);
  }
}

TEST(Replay, LeavesOutputsToTheCaller) {
  const EagerGraph graph = linear_tanh();
  const ExecutionPlan plan = graph.plan();
  std::vector<at::Tensor> outputs;
  plan.run(graph.inputs, outputs);
  const void* memory = outputs[0].const_data_ptr();
  plan.run(graph.inputs, outputs);
  EXPECT_EQ(outputs[0].const_data_ptr(), memory) << "released memory is used again";
  // While the caller has a view, the memory is not released.
  const at::Tensor row = outputs[0][1];
  const at::Tensor copy = row.clone();
  plan.run({at::randn({2, 8})}, outputs);
  EXPECT_TRUE(same_bits(row, copy));
  EXPECT_FALSE(same_bits(outputs[0][1], copy));
}

TEST(Replay, MakesOutputsAsNew) {
  const EagerGraph graph = linear_tanh();
  const ExecutionPlan plan = graph.plan();
  std::vector<at::Tensor> outputs;
  plan.run(graph.inputs, outputs);
  outputs[0].requires_grad_();
  plan.run(graph.inputs, outputs);
  EXPECT_FALSE(outputs[0].requires_grad());
  outputs[0].resize_({1});
  plan.run(graph.inputs, outputs);
  EXPECT_TRUE(same_bits(outputs[0], graph.expected()[0]));
}

TEST(Replay, IsMadeAndRunInAnyMode) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V y = graph.call1("aten.matrix_exp.default", {graph.call1("aten.diag_embed.default", {x})});
  graph.call("aten.add_.Tensor", {y, x});
  graph.output(y);
  const ExecutionPlan plan = graph.plan();
  std::vector<at::Tensor> outputs;
  {
    const c10::InferenceMode inference_mode;
    plan.run(graph.inputs, outputs);
    EXPECT_TRUE(outputs[0].is_inference());
  }
  plan.run(graph.inputs, outputs);
  EXPECT_FALSE(outputs[0].is_inference());
  EXPECT_TRUE(same_bits(outputs[0], graph.expected()[0]));
}

TEST(Replay, TellsInputsThatAreOneTensorApart) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V y = graph.input("y", at::randn({4}));
  graph.output(graph.call1("aten.sub.Tensor", {x, y}));
  graph.output(y);
  const ExecutionPlan plan = graph.plan();
  const at::Tensor a = at::randn({4});
  const at::Tensor b = at::randn({4});
  EXPECT_TRUE(same_bits(plan.run({a, a})[0], a - a));
  const auto outputs = plan.run({a, b});
  EXPECT_TRUE(same_bits(outputs[0], a - b));
  EXPECT_TRUE(outputs[1].is_same(b));
}

TEST(Replay, ReturnsViewsOfTheCallersInput) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({5, 2}));
  graph.output(graph.call1("aten.select.int", {x, 0, 1}));
  // Of another dtype.
  graph.output(graph.call1("aten.view_as_complex.default", {x}));
  EXPECT_EQ(difference_from_eager(graph), "");
  const ExecutionPlan plan = graph.plan();
  for (const int64_t first : {0, 2, 4}) {
    const at::Tensor input = at::randn({14}).slice(0, first, first + 10).view({5, 2});
    const std::vector<at::Tensor> outputs = plan.run({input});
    EXPECT_TRUE(same_bits(outputs[0], input[1]));
    EXPECT_TRUE(same_bits(outputs[1], at::view_as_complex(input)));
    for (const at::Tensor& output : outputs) EXPECT_TRUE(output.is_alias_of(input));
  }
}

// The kernel for it does without the indices, which are twice as large.
TEST(Replay, HasNoMemoryForWhatNobodyReads) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 4, 32, 32}));
  const V pooled = graph.call1("aten.max_pool2d.default", {x, Attribute::list({2, 2})});
  graph.output(graph.call1("aten.sum.default", {pooled}));
  expect_arena(graph, 4096);
}

// The same holds for memory that an operator returned, if nothing else reads it.
TEST(Replay, WritesOverWhatOperatorsReturn) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 8, 8}));
  const V power = graph.call1("aten.matrix_exp.default", {x});
  const V sum = graph.call1("aten.add.Tensor", {power, x});
  const V product = graph.call1("aten.mul.Tensor", {sum, x});
  graph.output(graph.call1("aten.sum.default", {product}));
  const PlanMemory memory = *graph.plan().memory(graph.inputs);
  EXPECT_EQ(memory.arena, 0);
  EXPECT_EQ(memory.returned, 512);
  EXPECT_EQ(difference_from_eager(graph), "");
}

// Its overload for given results uses them as scratch, and computes another value.
TEST(Replay, CallsOperatorsWhoseOutOverloadIsAnother) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 6}).sigmoid());
  const V y = graph.input("y", at::randn({2, 6}).sigmoid());
  graph.output(graph.call1("aten.binary_cross_entropy.default", {x, y}));
  expect_replayed(graph);
}

// The kernel is prepared before the operator that makes its argument has run.
TEST(Replay, PreparesForMemoryThatOperatorsReturn) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3, 3}));
  const V zeros = graph.call1("aten.zeros_like.default", {x});
  graph.output(graph.call1("aten.baddbmm.default", {zeros, x, x}));
  expect_replayed(graph);
}

// The operator inside writes to copies of the statistics, and returns new tensors too.
TEST(Replay, TakesWhatWritingOperatorsReturn) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3, 4}));
  const auto outputs =
      graph.call("aten._native_batch_norm_legit_functional.default",
                 {x, graph.weight("w", at::randn({3})), graph.weight("b", at::randn({3})),
                  graph.weight("mean", at::randn({3})), graph.weight("var", at::randn({3}).exp()),
                  true, 0.1, 1e-5});
  graph.output(outputs[0]);
  graph.output(outputs[3]);
  graph.output(outputs[4]);
  expect_replayed(graph);
}

// Counts the requests to LibTorch's allocator.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* inner) : inner_(inner) {}
  c10::DataPtr allocate(size_t bytes) override {
    ++count;
    return inner_->allocate(bytes);
  }
  void copy_data(void* to, const void* from, size_t count_bytes) const override {
    default_copy_data(to, from, count_bytes);
  }

  std::atomic<int> count = 0;

 private:
  c10::Allocator* inner_;
};

int count_allocations(const std::function<void()>& action) {
  c10::Allocator* inner = c10::GetCPUAllocator();
  CountingAllocator allocator(inner);
  c10::SetCPUAllocator(&allocator, /*priority=*/200);
  action();
  c10::SetCPUAllocator(inner, /*priority=*/200);
  return allocator.count;
}

TEST(Replay, AllocatesNothingAfterTheFirstRun) {
  const EagerGraph graph = linear_tanh();
  const ExecutionPlan plan = graph.plan();
  std::vector<at::Tensor> outputs;
  plan.run(graph.inputs, outputs);
  EXPECT_EQ(count_allocations([&] {
              for (int i = 0; i < 3; ++i) plan.run(graph.inputs, outputs);
            }),
            0);
}

// Tracing takes longer than a run, so it waits for the second run with a further layout.
TEST(Replay, TracesFurtherLayoutsWhenTheyAreMetAgain) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 4}));
  graph.output(graph.call1("aten.exp.default", {graph.call1("aten.tanh.default", {x})}));
  const ExecutionPlan plan = graph.plan();
  (void)plan.run(graph.inputs);
  const at::Tensor turned = at::randn({4, 4}).t();
  std::vector<at::Tensor> outputs;
  const int first = count_allocations([&] { plan.run({turned}, outputs); });
  plan.run({turned}, outputs);
  EXPECT_TRUE(same_bits(outputs[0], turned.tanh().exp()));
  EXPECT_GT(first, 0);
  EXPECT_EQ(count_allocations([&] { plan.run({turned}, outputs); }), 0);
}

}  // namespace
}  // namespace torch_ir
