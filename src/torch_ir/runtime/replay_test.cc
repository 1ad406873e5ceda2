// Tests replays: the calls they make, the memory they use, and that no run disturbs another.

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/zeros.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "torch_ir/base/error.h"
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
  for (const NodeProfile& node : compile(graph.ir, graph.weights).profile(graph.inputs, 1)) {
    calls.insert(calls.end(), node.calls.begin(), node.calls.end());
  }
  return calls;
}

bool is_replayed(const EagerGraph& graph) {
  return compile(graph.ir, graph.weights).memory(graph.inputs).has_value();
}

using Calls = std::vector<std::string>;

TEST(Replay, CallsWhatEagerCalls) {
  EXPECT_EQ(calls_of(linear_tanh()), (Calls{"aten::addmm", "aten::tanh"}));
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3, 4}));
  const V y = graph.call1("aten.transpose.int", {x, Attribute(1), Attribute(2)});
  graph.output(graph.call1("aten.matmul.default", {x, y}));
  EXPECT_EQ(calls_of(graph), Calls{"aten::bmm"});
}

TEST(Replay, ComputesConstantsOnce) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V w = graph.weight("w", at::randn({4}));
  const V scaled = graph.call1("aten.mul.Tensor", {w, w});
  graph.output(graph.call1("aten.add.Tensor", {x, scaled}));
  EXPECT_EQ(calls_of(graph), Calls{"aten::add"});
  EXPECT_EQ(difference_from_eager(graph), "");
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

TEST(Replay, LeavesOutWhatNobodyReads) {
  EagerGraph graph = linear_tanh();
  graph.call1("aten.exp.default", {V{"x"}});
  EXPECT_EQ(calls_of(graph), (Calls{"aten::addmm", "aten::tanh"}));
}

TEST(Replay, TellsItsMemory) {
  EagerGraph graph;
  V value = graph.input("x", at::randn({1024}));
  for (int i = 0; i < 6; ++i) {
    value = graph.call1("aten.cumsum.default", {value, Attribute(0)});
  }
  graph.output(value);
  const PlanMemory memory = *compile(graph.ir, graph.weights).memory(graph.inputs);
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
  EXPECT_EQ(compile(graph.ir, graph.weights).memory(graph.inputs)->arena, 4096);
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(Replay, WritesOverNothingThatIsReadLater) {
  EagerGraph graph;
  const V y = graph.call1("aten.exp.default", {graph.input("x", at::randn({3}))});
  const V z = graph.call1("aten.tanh.default", {y});
  graph.output(graph.call1("aten.mul.Tensor", {z, y}));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(Replay, WritesOverNothingThatIsReadInAnotherOrder) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({32, 32}));
  const V a = graph.call1("aten.exp.default", {x});
  const V turned = graph.call1("aten.t.default", {a});
  graph.output(graph.call1("aten.tanh.default", {graph.call1("aten.add.Tensor", {a, turned})}));
  EXPECT_EQ(compile(graph.ir, graph.weights).memory(graph.inputs)->arena, 2 * 4096);
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(Replay, WritesOverNothingOfAnotherLayout) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({32, 32}));
  const V turned = graph.call1("aten.t.default", {graph.call1("aten.exp.default", {x})});
  graph.output(graph.call1("aten.tanh.default", {graph.call1("aten.add.Tensor", {x, turned})}));
  EXPECT_EQ(compile(graph.ir, graph.weights).memory(graph.inputs)->arena, 2 * 4096);
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(Replay, ReplaysIndexingByNumbers) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({3, 2}));
  const V rows = graph.input("rows", at::tensor({2, 0, 2}, at::kLong));
  graph.output(graph.call1("aten.index.Tensor", {x, VList{rows}}));
  EXPECT_TRUE(is_replayed(graph));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(Replay, RunsStepByStepWithoutTrace) {
  const EagerGraph graph = linear_tanh();
  ExecutionOptions options;
  options.trace = false;
  const ExecutionPlan plan = compile(graph.ir, graph.weights, StateDict(), options);
  EXPECT_FALSE(plan.memory(graph.inputs).has_value());
  EXPECT_TRUE(same_bits(plan.run(graph.inputs)[0], graph.expected()[0]));
}

TEST(Replay, LeavesOutputsToTheCaller) {
  const EagerGraph graph = linear_tanh();
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  const at::Tensor first = plan.run(graph.inputs)[0];
  const at::Tensor copy = first.clone();
  const at::Tensor second = plan.run({at::randn({2, 8})})[0];
  EXPECT_TRUE(same_bits(first, copy));
  EXPECT_FALSE(same_bits(first, second));
}

TEST(Replay, UsesTheMemoryOfReleasedOutputsAgain) {
  const EagerGraph graph = linear_tanh();
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  std::vector<at::Tensor> outputs;
  plan.run(graph.inputs, outputs);
  const void* memory = outputs[0].const_data_ptr();
  plan.run(graph.inputs, outputs);
  EXPECT_EQ(outputs[0].const_data_ptr(), memory);
}

TEST(Replay, KeepsWhatAViewOfAnOutputSees) {
  const EagerGraph graph = linear_tanh();
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  std::vector<at::Tensor> outputs;
  plan.run(graph.inputs, outputs);
  const at::Tensor row = outputs[0][1];
  const at::Tensor copy = row.clone();
  plan.run({at::randn({2, 8})}, outputs);
  EXPECT_TRUE(same_bits(row, copy));
}

TEST(Replay, MakesOutputsAsNew) {
  const EagerGraph graph = linear_tanh();
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  std::vector<at::Tensor> outputs;
  plan.run(graph.inputs, outputs);
  outputs[0].requires_grad_();
  plan.run(graph.inputs, outputs);
  EXPECT_FALSE(outputs[0].requires_grad());
  outputs[0].resize_({1});
  plan.run(graph.inputs, outputs);
  EXPECT_TRUE(same_bits(outputs[0], graph.expected()[0]));
  {
    const c10::InferenceMode inference_mode;
    plan.run(graph.inputs, outputs);
  }
  plan.run(graph.inputs, outputs);
  EXPECT_FALSE(outputs[0].is_inference());
}

TEST(Replay, IsMadeAndRunInAnyMode) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V y = graph.call1("aten.matrix_exp.default", {graph.call1("aten.diag_embed.default", {x})});
  graph.call("aten.add_.Tensor", {y, x});
  graph.output(y);
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
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

TEST(Replay, TakesInputsFromAnywhere) {
  EagerGraph graph = linear_tanh();
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  const at::Tensor values = at::randn({4, 9});
  for (const at::Tensor& input :
       {values.slice(0, 1, 3).slice(1, 0, 8), values.slice(0, 0, 2).slice(1, 1, 9),
        at::randn({8, 2}).t(), at::randn({2, 8})}) {
    const at::Tensor expected = at::tanh(at::linear(input, graph.weights["w"], graph.weights["b"]));
    EXPECT_TRUE(same_bits(plan.run({input})[0], expected));
  }
}

// More layouts than are kept.
TEST(Replay, ForgetsLayoutsAndMeetsThemAgain) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 4}));
  graph.output(graph.call1("aten.exp.default", {x}));
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  for (int round = 0; round < 3; ++round) {
    for (int64_t stride = 4; stride < 20; ++stride) {
      const at::Tensor input = at::randn({4, stride}).slice(1, 0, 4);
      EXPECT_TRUE(same_bits(plan.run({input})[0], input.exp()));
    }
  }
}

TEST(Replay, TellsInputsThatAreOneTensorApart) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V y = graph.input("y", at::randn({4}));
  graph.output(graph.call1("aten.sub.Tensor", {x, y}));
  graph.output(y);
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  const at::Tensor a = at::randn({4});
  const at::Tensor b = at::randn({4});
  EXPECT_TRUE(same_bits(plan.run({a, a})[0], a - a));
  const auto outputs = plan.run({a, b});
  EXPECT_TRUE(same_bits(outputs[0], a - b));
  EXPECT_TRUE(outputs[1].is_same(b));
}

TEST(Replay, ReturnsViewsOfTheCallersInput) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  graph.output(graph.call1("aten.select.int", {x, Attribute(0), Attribute(1)}));
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  for (int64_t first = 0; first < 3; ++first) {
    const at::Tensor input = at::randn({4, 4}).slice(0, first, first + 2);
    const at::Tensor output = plan.run({input})[0];
    EXPECT_TRUE(same_bits(output, input[1]));
    EXPECT_TRUE(output.is_alias_of(input));
  }
}

TEST(Replay, ReturnsViewsOfAnotherDtype) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({5, 2}));
  graph.output(graph.call1("aten.view_as_complex.default", {x}));
  EXPECT_EQ(difference_from_eager(graph), "");
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  const at::Tensor values = at::randn({13});
  (void)plan.run(graph.inputs);
  const at::Tensor input = values.slice(0, 2, 12).view({5, 2});
  const at::Tensor output = plan.run({input})[0];
  EXPECT_TRUE(same_bits(output, at::view_as_complex(input)));
  EXPECT_TRUE(output.is_alias_of(values));
}

TEST(Replay, NamesTheNodeThatFailsAndRunsAgain) {
  EagerGraph graph;
  const V table = graph.weight("table", at::randn({3, 2}));
  const V rows = graph.input("rows", at::tensor({0, 2}, at::kLong));
  graph.output(graph.call1("aten.embedding.default", {table, rows}));
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  EXPECT_TRUE(same_bits(plan.run(graph.inputs)[0], graph.expected()[0]));
  try {
    (void)plan.run({at::tensor({0, 3}, at::kLong)});
    FAIL() << "a row that is not there";
  } catch (const ExecutionError& error) {
    EXPECT_NE(std::string(error.what()).find("Node 'n0' (aten.embedding.default) failed"),
              std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(same_bits(plan.run(graph.inputs)[0], graph.expected()[0]));
  EXPECT_TRUE(plan.memory(graph.inputs).has_value());
}

TEST(Replay, RunsInManyThreads) {
  const EagerGraph graph = linear_tanh();
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  std::atomic<int> num_different = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const at::Tensor input = at::randn({2 + round % 3, 8}).slice(0, 0, 2);
        const at::Tensor expected =
            at::tanh(at::linear(input, *graph.weights.find("w"), *graph.weights.find("b")));
        if (!same_bits(plan.run({input})[0], expected)) ++num_different;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_different, 0);
}

TEST(Replay, GivesTheSameBitsWithEachPassOff) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 3, 8, 8}));
  const V w = graph.weight("w", at::randn({4, 3, 3, 3}));
  const V doubled = graph.call1("aten.add.Tensor", {w, w});
  const V y = graph.call1("aten.conv2d.default", {x, doubled, {}, {}, Attribute::list({1, 1})});
  const V z = graph.call1("aten.relu.default", {y});
  graph.output(graph.call1("aten.mean.dim", {z, Attribute::list({2, 3})}));
  for (bool ExecutionOptions::* pass :
       {&ExecutionOptions::trace, &ExecutionOptions::fold_constants, &ExecutionOptions::kernels,
        &ExecutionOptions::reuse_memory}) {
    ExecutionOptions options;
    options.*pass = false;
    const ExecutionPlan plan = compile(graph.ir, graph.weights, StateDict(), options);
    for (int round = 0; round < 2; ++round) {
      EXPECT_TRUE(same_bits(plan.run(graph.inputs)[0], graph.expected()[0]));
    }
  }
}

// The kernel for it does without the indices, which are twice as large.
TEST(Replay, HasNoMemoryForWhatNobodyReads) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({1, 4, 32, 32}));
  const V pooled = graph.call1("aten.max_pool2d.default", {x, Attribute::list({2, 2})});
  graph.output(graph.call1("aten.sum.default", {pooled}));
  EXPECT_EQ(compile(graph.ir, graph.weights).memory(graph.inputs)->arena, 4096);
  EXPECT_EQ(difference_from_eager(graph), "");
}

// The same holds for memory that an operator returned, if nothing else reads it.
TEST(Replay, WritesOverWhatOperatorsReturn) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 8, 8}));
  const V power = graph.call1("aten.matrix_exp.default", {x});
  const V sum = graph.call1("aten.add.Tensor", {power, x});
  const V product = graph.call1("aten.mul.Tensor", {sum, x});
  graph.output(graph.call1("aten.sum.default", {product}));
  const PlanMemory memory = *compile(graph.ir, graph.weights).memory(graph.inputs);
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
  EXPECT_TRUE(is_replayed(graph));
  EXPECT_EQ(difference_from_eager(graph), "");
}

// The kernel is prepared before the operator that makes its argument has run.
TEST(Replay, PreparesForMemoryThatOperatorsReturn) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3, 3}));
  const V zeros = graph.call1("aten.zeros_like.default", {x});
  graph.output(graph.call1("aten.baddbmm.default", {zeros, x, x}));
  EXPECT_TRUE(is_replayed(graph));
  EXPECT_EQ(difference_from_eager(graph), "");
}

// The operator inside writes to copies of the statistics, and returns new tensors too.
TEST(Replay, TakesWhatWritingOperatorsReturn) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3, 4}));
  const auto outputs =
      graph.call("aten._native_batch_norm_legit_functional.default",
                 {x, graph.weight("w", at::randn({3})), graph.weight("b", at::randn({3})),
                  graph.weight("mean", at::randn({3})), graph.weight("var", at::randn({3}).exp()),
                  Attribute(true), Attribute(0.1), Attribute(1e-5)});
  graph.output(outputs[0]);
  graph.output(outputs[3]);
  graph.output(outputs[4]);
  EXPECT_TRUE(is_replayed(graph));
  EXPECT_EQ(difference_from_eager(graph), "");
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
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
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
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
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
