#include "torch_ir/executor/execution_plan.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "torch_ir/base/error.h"
#include "torch_ir/executor/eager_graph.h"
#include "torch_ir/executor/executor_registry.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What the ExecutionError says that `action` throws.
template <class Action>
std::string execution_error(const Action& action) {
  try {
    action();
  } catch (const ExecutionError& error) {
    return error.what();
  }
  return "no error";
}

EagerGraph linear_graph() {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V weight = graph.weight("linear.weight", at::randn({3, 4}));
  const V bias = graph.weight("linear.bias", at::randn({3}));
  graph.output(graph.call1("aten.linear.default", {x, weight, bias}));
  return graph;
}

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
  const VList parameters = {graph.weight("w_ih", at::randn({16, 3})),
                            graph.weight("w_hh", at::randn({16, 4})),
                            graph.weight("b_ih", at::randn({16})),
                            graph.weight("b_hh", at::randn({16}))};
  for (const V& result : graph.call("aten.lstm.input",
                                    {x, VList{h, c}, parameters, Attribute(true), Attribute(1),
                                     Attribute(0.0), Attribute(false), Attribute(false),
                                     Attribute(false)})) {
    graph.output(result);
  }
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, PassesNoneInListsAndForOptionalTensors) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 5}));
  const V index = graph.weight("index", at::arange(0, 5, 2));
  const V bias = graph.weight("bias", at::randn({5}));
  graph.output(graph.call1("aten.index.Tensor", {x, VList{std::nullopt, index}}));
  graph.output(graph.call1("aten.layer_norm.default",
                           {x, Attribute::list({5}), std::monostate(), bias}));
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
  const V fill = graph.call1("aten.full.default", {Attribute::list({4}), Attribute(1.5),
                                                   Attribute(at::kDouble)});
  graph.output(graph.call1("aten.add.Tensor", {x, steps}));
  graph.output(graph.call1("aten.mul.Tensor", {x, fill}));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, TakesTheMetaDeviceForItsOwn) {
  EagerGraph graph;
  graph.output(graph.call1("aten.ones.default", {Attribute::list({2}), Attribute(at::kFloat),
                                                 std::monostate(),
                                                 Attribute(c10::Device(c10::kCPU))}));
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

TEST(ExecutionPlan, ReturnsTheSameTensorTwice) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2}));
  const V y = graph.call1("aten.relu.default", {x});
  graph.output(y);
  graph.output(y);
  EXPECT_EQ(difference_from_eager(graph), "");
  const auto outputs = compile(graph.ir, graph.weights).run(graph.inputs);
  EXPECT_TRUE(outputs[0].is_same(outputs[1]));
}

TEST(ExecutionPlan, ReturnsTensorsThatCanBeWrittenAndDifferentiated) {
  const EagerGraph graph = linear_graph();
  const at::Tensor output = compile(graph.ir, graph.weights).run(graph.inputs)[0];
  EXPECT_FALSE(output.is_inference());
  output.add_(1);
  EXPECT_TRUE(output.clone().requires_grad_().mul(output).requires_grad());
}

// Writing to a result must not change what the plan computes next.
TEST(ExecutionPlan, NeverReturnsItsWeights) {
  EagerGraph graph;
  const V w = graph.weight("w", at::randn({2, 3}));
  graph.output(w);
  graph.output(graph.call1("aten.t.default", {w}));
  graph.output(graph.call1("aten.dropout.default", {w, Attribute(0.5), Attribute(false)}));
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  for (const at::Tensor& output : plan.run({})) output.zero_();
  EXPECT_EQ(difference_from_eager(graph), "");
  EXPECT_FALSE(same_bits(graph.weights["w"], at::zeros({2, 3})));
}

TEST(ExecutionPlan, WritesToCopiesOfInputsAndWeights) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 4}));
  const V w = graph.weight("w", at::randn({4, 4}));
  const V row = graph.call1("aten.select.int", {w, Attribute(0), Attribute(1)});
  graph.call("aten.mul_.Scalar", {row, Attribute(3.0)});
  graph.call("aten.relu_.default", {x});
  graph.output(graph.call1("aten.matmul.default", {x, w}));
  graph.output(x);
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, WritesThroughWhatMayBeAView) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V w = graph.weight("w", at::randn({4, 4}));
  const V flat = graph.call1("aten.reshape.default", {w, Attribute::list({16})});
  graph.call("aten.neg_.default", {flat});
  const V same = graph.call1("aten.contiguous.default", {x});
  const V eval = graph.call1("aten.dropout.default", {same, Attribute(0.1), Attribute(false)});
  graph.call("aten.add_.Scalar", {eval, Attribute(1.0)});
  graph.output(graph.call1("aten.mv.default", {w, x}));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, KeepsRunningStatisticsOfATrainingBatchNorm) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 3, 2, 2}));
  const V mean = graph.weight("mean", at::zeros({3}));
  const V var = graph.weight("var", at::ones({3}));
  graph.output(graph.call1("aten.batch_norm.default",
                           {x, std::monostate(), std::monostate(), mean, var, Attribute(true),
                            Attribute(0.1), Attribute(1e-5), Attribute(false)}));
  graph.output(mean);
  EXPECT_EQ(difference_from_eager(graph), "");
}

// Two names of one weight stay one weight when a run writes to it.
TEST(ExecutionPlan, KeepsTiedWeightsTied) {
  EagerGraph graph;
  const at::Tensor base = at::ones({4, 4});
  const V whole = graph.weight("whole", base);
  const V column = graph.weight("column", base.select(1, 2));
  graph.call("aten.mul_.Scalar", {whole, Attribute(5.0)});
  graph.output(column);
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  EXPECT_TRUE(same_bits(plan.run({})[0], at::ones({4}) * 5));
  EXPECT_TRUE(same_bits(base, at::ones({4, 4})));
}

TEST(ExecutionPlan, KeepsAnInputThatIsPassedTwiceOneTensor) {
  EagerGraph graph;
  const V a = graph.input("a", at::ones({2}));
  const V b = graph.input("b", at::ones({2}));
  graph.call("aten.add_.Scalar", {a, Attribute(1.0)});
  graph.output(graph.call1("aten.mul.Tensor", {a, b}));
  const at::Tensor x = at::ones({2});
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  EXPECT_TRUE(same_bits(plan.run({x, x})[0], at::ones({2}) * 4));
  EXPECT_TRUE(same_bits(plan.run({x, at::ones({2})})[0], at::ones({2}) * 2));
  EXPECT_TRUE(same_bits(x, at::ones({2})));
}

TEST(ExecutionPlan, RunsOnTwoThreadsAtOnce) {
  EagerGraph graph;
  V x = graph.input("x", at::randn({16, 16}));
  const V w = graph.weight("w", at::randn({16, 16}));
  for (int i = 0; i < 20; ++i) {
    x = graph.call1("aten.tanh.default", {graph.call1("aten.matmul.default", {x, w})});
    graph.call("aten.mul_.Scalar", {w, Attribute(0.99)});
  }
  graph.output(x);
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  const auto run = [&](bool& is_equal) {
    for (int i = 0; i < 50; ++i) {
      is_equal = is_equal && same_bits(plan.run(graph.inputs)[0], graph.expected()[0]);
    }
  };
  bool first = true;
  bool second = true;
  std::thread other(run, std::ref(first));
  run(second);
  other.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST(ExecutionPlan, FindsWeightsByPlaceholderAndConstantsInTheIr) {
  EagerGraph graph = linear_graph();
  StateDict weights;
  weights.insert("p_linear.weight", graph.weights["linear.weight"]);
  graph.ir.constants.insert("linear.bias", graph.weights["linear.bias"]);
  const at::Tensor output = compile(graph.ir, weights).run(graph.inputs)[0];
  EXPECT_TRUE(same_bits(output, graph.expected()[0]));
}

TEST(ExecutionPlan, PrefersConstantsOfTheCallerToThoseOfTheIr) {
  EagerGraph graph = linear_graph();
  StateDict weights;
  weights.insert("linear.weight", graph.weights["linear.weight"]);
  StateDict constants;
  constants.insert("linear.bias", graph.weights["linear.bias"]);
  graph.ir.constants.insert("linear.bias", at::zeros({3}));
  const at::Tensor output = compile(graph.ir, weights, constants).run(graph.inputs)[0];
  EXPECT_TRUE(same_bits(output, graph.expected()[0]));
}

TEST(ExecutionPlan, NamesAMissingWeight) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2}));
  graph.output(graph.call1("aten.mul.Tensor", {x, graph.weight("mask", at::ones({2}))}));
  graph.ir.nodes[0].name = "mul";
  EXPECT_EQ(execution_error([&] { compile(graph.ir, StateDict()); }),
            "Weight/input 'p_mask' not found in registry for node 'mul'.");
}

TEST(ExecutionPlan, NamesAMissingOutput) {
  EagerGraph graph;
  graph.output(graph.weight("w", at::ones({2})));
  EXPECT_EQ(execution_error([&] { compile(graph.ir, StateDict()); }),
            "Graph output 'p_w' not found in registry");
}

TEST(ExecutionPlan, DoesWithoutWeightsThatNobodyUses) {
  EagerGraph graph = linear_graph();
  graph.weight("num_batches_tracked", at::zeros({}, at::kLong));
  graph.weights.erase("num_batches_tracked");
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(ExecutionPlan, RefusesWeightsThatDoNotFit) {
  EagerGraph graph = linear_graph();
  graph.weights["linear.weight"] = at::randn({3, 5});
  EXPECT_EQ(execution_error([&] { compile(graph.ir, graph.weights); }),
            "Weight 'linear.weight' has shape [3, 5], expected [3, 4].");
  graph.weights["linear.weight"] = at::randn({3, 4}, at::kDouble);
  EXPECT_EQ(execution_error([&] { compile(graph.ir, graph.weights); }),
            "Weight 'linear.weight' has dtype float64, expected float32.");
  graph.weights["linear.weight"] = at::randn({3, 4}, at::kMeta);
  EXPECT_THAT(execution_error([&] { compile(graph.ir, graph.weights); }),
              HasSubstr("'linear.weight' is on the meta device"));
}

TEST(ExecutionPlan, RefusesInputsThatDoNotFit) {
  const EagerGraph graph = linear_graph();
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  EXPECT_EQ(execution_error([&] { plan.run({}); }),
            "The graph takes 1 input(s), but 0 were given.");
  EXPECT_EQ(execution_error([&] { plan.run({at::randn({2, 5})}); }),
            "Input 'x' has shape [2, 5], expected [2, 4].");
  EXPECT_EQ(execution_error([&] { plan.run({at::randn({2, 4}, at::kDouble)}); }),
            "Input 'x' has dtype float64, expected float32.");
  EXPECT_EQ(execution_error([&] { plan.run({at::randn({2, 4}, at::kMeta)}); }),
            "Input 'x' is on meta, expected cpu.");
  EXPECT_EQ(execution_error([&] { plan.run({at::Tensor()}); }), "Input 'x' is undefined.");
}

TEST(ExecutionPlan, NamesAnOperatorThatIsNotThere) {
  EagerGraph graph = linear_graph();
  graph.ir.nodes[0].op_type = "nobody.knows.default";
  EXPECT_THAT(execution_error([&] { compile(graph.ir, graph.weights); }),
              StartsWith("Operator 'nobody.knows.default' of node 'n0' is unknown to LibTorch 2."));
}

TEST(ExecutionPlan, NamesTheNodeThatFails) {
  EagerGraph graph;
  const V x = graph.input("x", at::zeros({4}, at::kLong));
  const V w = graph.weight("w", at::randn({2, 3}));
  const V y = graph.call1("aten.embedding.default", {w, x});
  graph.output(y);
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  EXPECT_EQ(execution_error([&] { plan.run({at::arange(4)}); }),
            "Node 'n0' (aten.embedding.default) failed on inputs of shape [2, 3], [4]: "
            "index out of range in self");
}

// Of a chain of values only the newest are alive.
TEST(ExecutionPlan, ReleasesValuesAfterTheirLastUse) {
  EagerGraph graph;
  V x = graph.input("x", at::randn({2}));
  for (int i = 0; i < 50; ++i) x = graph.call1("aten.relu.default", {x});
  graph.output(x);
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> made;
  long most_alive = 0;
  register_executor("aten.relu.default",
                    [&](const OpNode&, const std::vector<at::Tensor>& inputs) {
                      const at::Tensor output = inputs[0].relu();
                      made.emplace_back(output.getIntrusivePtr());
                      const auto alive = std::count_if(
                          made.begin(), made.end(), [](const auto& value) { return !value.expired(); });
                      most_alive = std::max<long>(most_alive, alive);
                      return std::vector<at::Tensor>{output};
                    });
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  register_executor("aten.relu.default", {});
  plan.run(graph.inputs);
  EXPECT_EQ(made.size(), 50);
  EXPECT_EQ(most_alive, 2) << "the input of the node and its output";
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
}

TEST(ExecutionPlan, PrefersRegisteredExecutors) {
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

TEST(ExecutionPlan, RefusesAnExecutorThatReturnsTooFewTensors) {
  const EagerGraph graph = linear_graph();
  register_executor("aten.linear.default",
                    [](const OpNode&, const std::vector<at::Tensor>&) {
                      return std::vector<at::Tensor>();
                    });
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  register_executor("aten.linear.default", {});
  EXPECT_THAT(execution_error([&] { plan.run(graph.inputs); }),
              HasSubstr("Node 'n0' (aten.linear.default) failed"));
  EXPECT_THAT(execution_error([&] { plan.run(graph.inputs); }),
              HasSubstr("it returned 0 tensor(s), the graph says 1"));
}

}  // namespace
}  // namespace torch_ir
