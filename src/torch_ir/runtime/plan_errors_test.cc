// Tests the values that compile and run accept, and the messages for those that they reject.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/warning_texts.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/runtime/check_values.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(PlanErrors, FindsWeightsByPlaceholderAndConstantsInTheIr) {
  EagerGraph graph = linear_graph();
  const StateDict weights{{"p_linear.weight", graph.weights["linear.weight"]}};
  graph.ir.constants.insert("linear.bias", graph.weights["linear.bias"]);
  EXPECT_TRUE(same_bits(compile(graph.ir, weights).run(graph.inputs)[0], graph.expected()[0]));
  // Those of the caller come first.
  const StateDict constants{{"linear.bias", graph.weights["linear.bias"]}};
  graph.ir.constants["linear.bias"] = at::zeros({3});
  const at::Tensor output = compile(graph.ir, weights, constants).run(graph.inputs)[0];
  EXPECT_TRUE(same_bits(output, graph.expected()[0]));
}

TEST(PlanErrors, NamesAMissingWeight) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2}));
  graph.output(graph.call1("aten.mul.Tensor", {x, graph.weight("mask", at::ones({2}))}));
  graph.ir.nodes[0].name = "mul";
  EXPECT_THAT(weight_problems(graph.ir, StateDict()),
              ElementsAre("Missing weight 'mask' (float32 [2]), read by node 'mul'."));
  IR& ir = graph.ir;
  ir.weight_name_mapping = torch::OrderedDict<std::string, std::string>();
  ir.weight_name_mapping.insert("c_mask", "mask");
  ir.nodes[0].inputs[1].name = "c_mask";
  EXPECT_THAT(weight_problems(ir, StateDict()),
              ElementsAre("Constant 'mask' (float32 [2]), read by node 'mul', has no values: pass "
                          "it in `constants`."));
}

// One part of this graph is computed once, the other in each run: neither alone may be old.
EagerGraph half_folded_graph() {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V w = graph.weight("w", at::randn({4}));
  const V folded = graph.call1("aten.exp.default", {w});
  graph.output(graph.call1("aten.add.Tensor", {graph.call1("aten.mul.Tensor", {x, folded}), w}));
  return graph;
}

// What runs a plan on `inputs`.
std::vector<std::function<void()>> uses_of(const ExecutionPlan& plan,
                                           const std::vector<at::Tensor>& inputs) {
  return {[&] { (void)plan.run(inputs); }, [&] { (void)plan.run_checked(inputs); },
          [&] { plan.memory(inputs); }, [&] { plan.profile(inputs, 1); },
          [&] { plan.observe(inputs, [](const std::string&, const at::Tensor&) {}); }};
}

TEST(PlanErrors, RefusesWeightsThatHaveChanged) {
  const std::function<void(at::Tensor&)> changes[] = {
      [](at::Tensor& weight) { weight.add_(1); },
      [](at::Tensor& weight) { weight.detach().view({2, 2})[0].zero_(); },
      [](at::Tensor& weight) { weight.set_data(at::ones({4})); }};
  for (const auto& change : changes) {
    EagerGraph graph = half_folded_graph();
    const at::Tensor& x = graph.inputs[0];
    at::Tensor& weight = graph.weights["w"];
    ExecutionPlan plan = graph.plan({.keeps_values = true});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(plan.run({x})[0], graph.expected()[0]));
    change(weight);
    EXPECT_EQ(plan.changed_weight(), "w");
    for (const auto& use : uses_of(plan, graph.inputs)) {
      EXPECT_EQ(execution_error(use),
                "Weight 'w' has changed since the plan was compiled; call reload().");
    }
    EXPECT_THAT(execution_error([&] { plan.reload(StateDict()); }), StartsWith("Missing weight"));
    plan.reload(graph.weights);
    EXPECT_TRUE(same_bits(plan.run({x})[0], x * weight.exp() + weight));
  }
}

TEST(PlanErrors, RefusesAPlanThatWasMovedFrom) {
  const EagerGraph graph = linear_graph();
  ExecutionPlan plan = graph.plan();
  ExecutionPlan other = std::move(plan);
  std::vector<at::Tensor> outputs;
  std::vector<std::function<void()>> uses = uses_of(plan, graph.inputs);
  uses.emplace_back([&] { plan.run(graph.inputs, outputs); });
  uses.emplace_back([&] { plan.not_replayed(); });
  uses.emplace_back([&] { (void)plan.changed_weight(); });
  uses.emplace_back([&] { plan.reload(graph.weights); });
  for (const auto& use : uses) {
    EXPECT_EQ(execution_error(use), "The plan was moved from; use the one that it was moved to.");
  }
  plan = std::move(other);
  EXPECT_TRUE(same_bits(plan.run(graph.inputs)[0], graph.expected()[0]));
}

TEST(PlanErrors, ListsAllWeightsThatDoNotFit) {
  EagerGraph graph = linear_graph();
  graph.output(graph.call1("aten.mul.Tensor", {V{"n0"}, graph.weight("mask", at::ones({3}))}));
  graph.output(graph.weight("spare", at::ones({1})));
  const StateDict weights{{"linear.weight", at::randn({4, 3}, at::kDouble)},
                          {"linear.bais", at::randn({3})},
                          {"mask", at::ones({3}).to_sparse()}};
  EXPECT_EQ(
      execution_error([&] { (void)compile(graph.ir, weights); }),
      "5 problems with the weights:\n"
      "  Weight 'linear.weight' has shape [4, 3], expected [3, 4], and dtype float64, expected "
      "float32.\n"
      "  Weight 'mask' has layout sparse_coo, expected strided.\n"
      "  Missing weight 'linear.bias' (float32 [3]), read by node 'n0'.\n"
      "  Missing weight 'spare' (float32 [1]), read by output 'p_spare'.\n"
      "  Unexpected weight 'linear.bais': the graph does not use it.");
  Case content = graph.as_case();
  content.weights = weights;
  EXPECT_THAT(weight_problems(content), SizeIs(5));
}

// A graph that reads so many weights that nobody wants them listed.
EagerGraph sum_of_weights(int count) {
  EagerGraph graph;
  V sum = graph.input("x", at::randn({2}));
  for (int i = 0; i < count; ++i) {
    sum = graph.call1("aten.add.Tensor",
                      {sum, graph.weight(fmt::format("layers.{}.w", i), at::randn({2}))});
  }
  graph.output(sum);
  return graph;
}

TEST(PlanErrors, NamesAFewOfManyWeights) {
  const EagerGraph graph = sum_of_weights(100);
  const std::vector<std::string> missing = weight_problems(graph.ir, StateDict());
  EXPECT_THAT(missing, SizeIs(9));
  EXPECT_EQ(missing.back(), "... and 92 more such weights.");
  EXPECT_THAT(execution_error([&] { (void)compile(graph.ir, StateDict()); }),
              StartsWith("100 problems with the weights:\n"));
  StateDict others;
  for (int i = 0; i < 50; ++i) others.insert(fmt::format("h.{}.kernel", i), at::ones({2}));
  EXPECT_THAT(weight_problems(graph.ir, others),
              ElementsAre("The weights have other names than the graph's: they are 'h.0.kernel', "
                          "'h.1.kernel', 'h.2.kernel' and 47 more, and the graph reads "
                          "'layers.0.w', 'layers.1.w', 'layers.2.w' and 97 more."));
  others.insert("layers.0.w", at::ones({2}));
  EXPECT_THAT(weight_problems(graph.ir, others), SizeIs(18));
  StateDict halves;
  for (const auto& item : graph.weights) halves.insert(item.key(), item.value().to(at::kHalf));
  EXPECT_EQ(weight_problems(graph.ir, halves).back(), "... and 92 more such weights.");
}

TEST(PlanErrors, TakesWeightsWhoseNamesHaveOnePrefix) {
  const EagerGraph graph = sum_of_weights(3);
  StateDict compiled;
  for (const auto& item : graph.weights) compiled.insert("_orig_mod." + item.key(), item.value());
  WarningTexts warnings;
  EXPECT_THAT(weight_problems(graph.ir, compiled), IsEmpty());
  EXPECT_THAT(warnings.texts, SizeIs(1));
  EXPECT_TRUE(same_bits(compile(graph.ir, compiled).run(graph.inputs)[0], graph.expected()[0]));
}

TEST(PlanErrors, ATiedWeightHasOneValue) {
  EagerGraph graph = sum_of_weights(2);
  graph.ir.tied_weights = {{"layers.0.w", "layers.1.w", "also"}};
  const at::Tensor weight = graph.weights["layers.0.w"];
  graph.weights["layers.1.w"] = weight.clone();
  const StateDict also{{"also", weight}};
  const at::Tensor expected = graph.inputs[0] + weight + weight;
  EXPECT_TRUE(same_bits(graph.plan().run(graph.inputs)[0], expected));
  EXPECT_TRUE(same_bits(compile(graph.ir, also).run(graph.inputs)[0], expected));
  EXPECT_THAT(weight_problems(graph.ir, also), IsEmpty());
  graph.weights["layers.1.w"] = at::ones({2});
  const std::string problem =
      "Weights 'layers.0.w' and 'layers.1.w' are tied in the graph, but their values differ; give "
      "one of them.";
  EXPECT_THAT(weight_problems(graph.ir, graph.weights), ElementsAre(problem));
  EXPECT_EQ(execution_error([&] { (void)graph.plan(); }), problem);
}

TEST(PlanErrors, ListsWeightsAndInputsThatDoNotFit) {
  EagerGraph graph = linear_graph();
  graph.weights["linear.bias"] = at::randn({3}, at::kMeta);
  graph.inputs = {at::randn({2, 5})};
  EXPECT_THAT(
      value_problems(graph.as_case()),
      ElementsAre("Weight 'linear.bias' is on the meta device and has no data; supply its values.",
                  "Input 'x' has shape [2, 5], expected [2, 4]."));
}

// A checkpoint often has more than a part of its model needs, or lacks what it does not.
TEST(PlanErrors, RefusesNoWeightsForWhatNobodyUses) {
  EagerGraph graph = linear_graph();
  graph.weight("num_batches_tracked", at::zeros({}, at::kLong));
  graph.weights.erase("num_batches_tracked");
  graph.weights.insert("head.bias", at::ones({1}));
  WarningTexts warnings;
  EXPECT_THAT(value_problems(graph.as_case()), IsEmpty());
  EXPECT_THAT(warnings.texts, ElementsAre("The graph does not use 1 of the weights: 'head.bias'"));
  EXPECT_EQ(difference_from_eager(graph), "");
}

TEST(PlanErrors, ListsAllInputsThatDoNotFit) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V y = graph.input("y", at::randn({4}));
  graph.output(graph.call1("aten.mul.Tensor", {x, y}));
  const ExecutionPlan plan = graph.plan();
  const at::Tensor row = graph.inputs[1];
  const std::pair<std::vector<at::Tensor>, std::vector<std::string>> cases[] = {
      {{at::randn({2, 4})}, {"Expected 2 inputs, found 1."}},
      {{at::randn({2, 4}, at::kMeta), row}, {"Input 'x' is on meta, expected cpu."}},
      {{at::Tensor(), row}, {"Missing input 'x' (float32 [2, 4])."}},
      {{at::randn({2, 4}).to_sparse(), row},
       {"Input 'x' has layout sparse_coo, expected strided."}},
      {{at::randn({4, 2}), at::randn({4}, at::kDouble)},
       {"Input 'x' has shape [4, 2], expected [2, 4].",
        "Input 'y' has dtype float64, expected float32."}},
  };
  for (const auto& [inputs, problems] : cases) {
    EXPECT_EQ(run_error(plan, inputs), problem_list(problems, "the inputs"));
    EXPECT_EQ(input_problems(*graph.program(), inputs), problems);
  }
  EXPECT_EQ(run_error(linear_graph().plan(), {}), "Expected 1 input, found 0.");
  EXPECT_THAT(input_problems(*graph.program(), graph.inputs), IsEmpty());
  EXPECT_THAT(input_problems(*graph.program(), graph.inputs, at::kMeta), SizeIs(2));
}

TEST(PlanErrors, NamesAnArgumentThatNoRunCanMake) {
  EagerGraph graph = linear_graph();
  graph.ir.nodes[0].attrs.set("packed", Opaque{"an object of the class 'A'"});
  for (const char* op_type : {"aten.linear.default", "nobody.knows.default"}) {
    graph.ir.nodes[0].op_type = op_type;
    EXPECT_TRUE(find_problems(graph.ir).empty());
    EXPECT_EQ(execution_error([&] { (void)graph.plan(); }),
              std::string("Argument 'packed' of node 'n0' (") + op_type +
                  ") is an object of the class 'A', which no run can make; export the model "
                  "without it.");
  }
}

TEST(PlanErrors, PutsNamesOfAFileOnOneLine) {
  EagerGraph graph = linear_graph();
  graph.ir.nodes[0].op_type = "nobody.kn\nows.default";
  graph.ir.nodes[0].name = "\x1b[2J";
  EXPECT_THAT(execution_error([&] { (void)graph.plan(); }),
              StartsWith("Unknown operator 'nobody.kn\\x0aows.default' of node '\\x1b[2J': "));
}

// The shape or dtype that a graph declares for its first node, and reads in its second.
void declare(EagerGraph& graph, std::vector<int64_t> shape, const std::string& dtype) {
  for (TensorMeta* meta : {&graph.ir.nodes[0].outputs[0], &graph.ir.nodes[1].inputs[0],
                           &graph.ir.nodes[1].outputs[0], &graph.ir.graph_outputs[0]}) {
    meta->shape = shape;
    meta->dtype = dtype;
  }
}

EagerGraph relu_neg() {
  EagerGraph graph;
  const V relu = graph.call1("aten.relu.default", {graph.input("x", at::randn({2, 4}))});
  graph.output(graph.call1("aten.neg.default", {relu}));
  return graph;
}

TEST(PlanErrors, WarnsOnceWhereEagerDiffersFromTheIr) {
  EagerGraph graph = relu_neg();
  const auto warnings_of = [&] {
    WarningTexts warnings;
    for (const bool traces : {true, false}) {
      const ExecutionPlan plan = graph.plan({.trace = traces});
      for (int run = 0; run < 3; ++run) {
        EXPECT_TRUE(same_bits(plan.run_checked(graph.inputs)[0], graph.expected()[0]));
      }
    }
    return warnings.texts;
  };
  EXPECT_THAT(warnings_of(), IsEmpty());
  const auto warning = [](const std::string& declared) {
    return "node 'n0' (aten.relu.default): output 'n0' is float32 [2, 4], but the IR declares " +
           declared + "; the run goes on with what PyTorch's operator returned";
  };
  // The node after it differs too, but only for this reason.
  declare(graph, {7, 99}, "float32");
  EXPECT_THAT(warnings_of(), ElementsAre(warning("float32 [7, 99]"), warning("float32 [7, 99]")));
  declare(graph, {2, 4}, "float16");
  EXPECT_THAT(warnings_of(), ElementsAre(warning("float16 [2, 4]"), warning("float16 [2, 4]")));
}

TEST(PlanErrors, RefusesAnOpHandlerThatDiffersFromTheIr) {
  const EagerGraph graph = relu_neg();
  const auto error_with = [&](const std::vector<at::Tensor>& made) {
    register_executor("aten.relu.default",
                      [=](const OpNode&, const std::vector<at::Tensor>&) { return made; });
    const ExecutionPlan plan = graph.plan();
    register_executor("aten.relu.default", {});
    return execution_error([&] { (void)plan.run_checked(graph.inputs); });
  };
  EXPECT_EQ(error_with({at::ones({4, 2})}),
            "node 'n0' (aten.relu.default): output 'n0' is float32 [4, 2], but the IR declares "
            "float32 [2, 4]");
  EXPECT_EQ(error_with({at::ones({2, 4}, at::kHalf)}),
            "node 'n0' (aten.relu.default): output 'n0' is float16 [2, 4], but the IR declares "
            "float32 [2, 4]");
  EXPECT_THAT(error_with({}), AllOf(HasSubstr("Node 'n0' (aten.relu.default) failed"),
                                    HasSubstr("it returned 0 values, expected 1")));
}

TEST(PlanErrors, ReplaysNoOperatorThatResizesItsResult) {
  for (const int64_t size : {3, 12}) {
    EagerGraph graph;
    const V x = graph.input("x", at::full({size}, 7.0F));
    const V doubled = graph.call1("aten.add.Tensor", {x, x});
    const V arange = graph.call1("aten.arange.start_out", {0, 5, 1, doubled});
    graph.output(graph.call1("aten.neg.default", {arange}));
    const ExecutionPlan plan = graph.plan();
    for (int run = 0; run < 4; ++run) {
      EXPECT_TRUE(same_bits(plan.run_checked(graph.inputs)[0], -at::arange(5).to(at::kFloat)));
    }
    EXPECT_THAT(plan.not_replayed(),
                ElementsAre(::testing::Field(&NodeNotReplayed::reason, "it resizes a tensor")));
  }
}

TEST(PlanErrors, ChecksNoOutputsThatNobodyReads) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 6}));
  graph.output(graph.call("aten.topk.default", {x, 3})[0]);
  graph.ir.nodes[0].outputs[1].shape = {0};
  EXPECT_TRUE(same_bits(graph.plan().run_checked(graph.inputs)[0], graph.expected()[0]));
}

// LibTorch ends the process for some of these.
TEST(PlanErrors, LooksAtShapesThatLibTorchReliesOn) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 12, 16}));
  const V state = graph.input("state", at::zeros({1, 2, 32}));
  const VList parameters = {
      graph.weight("p0", at::randn({128, 16})), graph.weight("p1", at::randn({128, 32})),
      graph.weight("p2", at::randn({128})), graph.weight("p3", at::randn({128}))};
  const std::vector<V> outputs = graph.call(
      "aten.lstm.input", {x, VList{state, state}, parameters, true, 1, 0.0, false, false, true});
  graph.output(outputs[0]);
  EXPECT_EQ(graph.plan().run(graph.inputs)[0].sizes(), std::vector<int64_t>({2, 12, 32}));
  graph.weights["p1"] = at::zeros({0, 32});
  // After the input and two states.
  graph.ir.weights.at(1).shape = graph.ir.nodes.at(0).inputs.at(4).shape = {0, 32};
  EXPECT_THAT(run_error(graph.plan(), graph.inputs),
              HasSubstr("params 1 has shape [0, 32], but should have [128, 32]"));
}

// Runs with such inputs fail, and those between them do not notice.
void expect_errors_between_runs(const EagerGraph& graph, const std::vector<at::Tensor>& wrong,
                                const std::string& op_type, const std::string& problem) {
  const ExecutionPlan plan = graph.plan();
  for (int run = 0; run < 4; ++run) {
    EXPECT_TRUE(same_bits(plan.run(graph.inputs)[0], graph.expected()[0]));
    EXPECT_THAT(run_error(plan, wrong),
                AllOf(HasSubstr("Node 'n0' (" + op_type + ") failed"), HasSubstr(problem)));
  }
  EXPECT_THAT(plan.not_replayed(), IsEmpty());
}

// LibTorch reads at these places.
TEST(PlanErrors, LooksAtOffsetsInEachRun) {
  EagerGraph graph;
  const V table = graph.weight("table", at::randn({4, 3}));
  const V indices = graph.input("indices", at::tensor({0, 1, 2, 3}, at::kLong));
  const V offsets = graph.input("offsets", at::tensor({0, 1, 2}, at::kLong));
  graph.output(graph.call("aten.embedding_bag.default", {table, indices, offsets})[0]);
  const at::Tensor wrong = at::tensor({0L, -(1L << 40), 2L}, at::kLong);
  expect_errors_between_runs(graph, {graph.inputs[0], wrong}, "aten.embedding_bag.default",
                             "offsets has -1099511627776 at 1, but should be at least 0");
}

TEST(PlanErrors, NamesTheNodeThatFailsInEachRun) {
  EagerGraph graph;
  const V table = graph.weight("table", at::randn({3, 2}));
  const V rows = graph.input("rows", at::tensor({0, 2}, at::kLong));
  graph.output(graph.call1("aten.embedding.default", {table, rows}));
  expect_errors_between_runs(graph, {at::tensor({0, 3}, at::kLong)}, "aten.embedding.default",
                             "index out of range in self");
}

// The processor would end the program.
TEST(PlanErrors, DividesNoLeastNumberByMinusOne) {
  EagerGraph graph;
  const V x = graph.input("x", at::tensor({7, -9}, at::kLong));
  const V y = graph.input("y", at::tensor({2, 4}, at::kLong));
  graph.output(graph.call("aten.div.Tensor_mode", {x, y, Attribute("trunc")})[0]);
  const at::Tensor least = at::full({2}, std::numeric_limits<int64_t>::min(), at::kLong);
  expect_errors_between_runs(graph, {least, at::full({2}, -1, at::kLong)}, "aten.div.Tensor_mode",
                             "-9223372036854775808 divided by -1 is out of range for Long");
  EXPECT_TRUE(at::equal(graph.plan().run({graph.inputs[0], at::full({2}, -1, at::kLong)})[0],
                        -graph.inputs[0]));
}

}  // namespace
}  // namespace torch_ir
