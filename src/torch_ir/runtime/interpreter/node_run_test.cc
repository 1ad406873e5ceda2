#include "torch_ir/runtime/interpreter/node_run.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "torch_ir/ir/testing/program_graphs.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NodeRun, TellsEachValueAsItsNodeMadeIt) {
  EagerGraph graph;
  std::vector<std::pair<std::string, at::Tensor>> made;
  const auto call = [&](const std::string& op_type, std::vector<EagerArgument> arguments) {
    const std::vector<V> outputs = graph.call(op_type, std::move(arguments));
    for (const V& output : outputs) made.emplace_back(output.name, graph.value(output).clone());
    return outputs;
  };
  const V x = graph.input("x", at::randn({4, 6}));
  const V gain = graph.weight("gain", at::randn({6}));
  const V product = call("aten.mul.Tensor", {x, gain})[0];
  // Writes to the product, through its view; nothing reads the result of the call.
  call("aten.relu_.default", {call("aten.t.default", {product})[0]});
  const std::vector<V> parts = call("aten.split.Tensor", {product, 2});
  // Nothing reads the indices either.
  graph.output(call("aten.topk.default", {parts[1], 3})[0]);

  NodeRun run(graph.as_case());
  for (const auto& [name, expected] : made) {
    const at::Tensor value = run.value(name);
    ASSERT_TRUE(value.defined()) << name;
    EXPECT_TRUE(same_bits(value, expected)) << name;
  }
  EXPECT_TRUE(same_bits(graph.inputs[0], graph.value(x)));
}

TEST(NodeRun, ShowsInputsAndWeightsAsTheRunChangesThem) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({3}));
  const V y = graph.input("y", at::ones({3}));
  const V count = graph.weight("count", at::ones({3}));
  const V gain = graph.weight("gain", at::ones({3}));
  graph.call1("aten.add_.Tensor", {x, gain});
  graph.call1("aten.add_.Tensor", {count, y});
  graph.output(graph.call1("aten.mul.Tensor", {x, count}));

  NodeRun run(graph.as_case());
  const auto current = [&](const char* name) {
    return run.current(run.graph().source->find(name).value());
  };
  const at::Tensor copy_of_x = current("x");
  const at::Tensor copy_of_count = current("p_count");
  EXPECT_TRUE(current("y").is_same(graph.inputs[1]));
  EXPECT_TRUE(current("p_gain").is_same(graph.weights["gain"]));
  EXPECT_FALSE(current("n0").defined());
  run.value("n2");
  EXPECT_TRUE(copy_of_x.equal(at::ones({3}) * 2));
  EXPECT_TRUE(copy_of_count.equal(at::ones({3}) * 2));
  EXPECT_TRUE(graph.inputs[0].equal(at::ones({3})));
  EXPECT_TRUE(graph.weights["count"].equal(at::ones({3})));
}

TEST(NodeRun, RunsOnlyAsFarAsIsAskedFor) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 3}));
  const V relu = graph.call1("aten.relu.default", {x});
  const V negated = graph.call1("aten.neg.default", {relu});
  const V flat = graph.call1("aten.view.default", {negated, Attribute::list({6})});
  graph.output(flat);
  graph.ir.nodes[2].attrs.set("size", Attribute::list({7}));

  NodeRun run(graph.as_case());
  EXPECT_FALSE(run.value("nothing").defined());
  EXPECT_TRUE(run.value(negated.name).defined());
  EXPECT_FALSE(run.value(relu.name).defined()) << "it has been passed";
  EXPECT_THAT(execution_error([&] { run.value(flat.name); }),
              AllOf(HasSubstr("Node 'n2' (aten.view.default) failed"), HasSubstr("[2, 3]")));
}

TEST(NodeRun, LetsGoOfWhatTheGraphReadsNoMore) {
  EagerGraph graph;
  V last = graph.input("x", at::randn({8}));
  for (int i = 0; i < 4; ++i) last = graph.call1("aten.neg.default", {last});
  graph.output(last);

  NodeRun run(graph.as_case());
  const at::Tensor first = run.value("n0");
  run.value("n1");
  run.value("n2");
  EXPECT_EQ(first.use_count(), 1U);
}

const Value kTensor = {.shape = {2, 3}, .dtype = at::kFloat};
const Value kInt = {.shape = {}, .dtype = at::kLong, .is_scalar = true};

TEST(RunProgram, WritesThatASchemaDoesNotMarkGoToCopies) {
  for (const std::string name : {"instance_norm", "batch_norm"}) {
    EagerGraph graph;
    const V x = graph.input("x", at::arange(48, at::kFloat).view({2, 3, 2, 4}));
    const V mean = graph.weight("mean", at::zeros({3}));
    const V var = graph.weight("var", at::ones({3}));
    graph.call1("aten." + name + ".default",
                {x, std::monostate(), std::monostate(), mean, var, true, 0.5, 1e-5, false});
    graph.output(mean);
    for (int round = 0; round < 2; ++round) {
      EXPECT_TRUE(at::allclose(run_program(graph.as_case())[0], graph.expected()[0])) << name;
    }
    EXPECT_TRUE(at::equal(graph.weights["mean"], at::zeros({3}))) << name;
  }
}

TEST(RunProgram, AnObserverIsToldOfEveryValueInOrder) {
  Program program;
  const ValueId x = add_input(program, "x", kTensor);
  const ValueId p_w = add_input(program, "p_w", kTensor, InputKind::kParameter, "l.w");
  const ValueId mul =
      add_node(program, "mul", "aten.mul.Tensor", {{"self", x}, {"other", p_w}}, kTensor);
  add_node(program, "n", "aten.sym_size.int", {{"self", mul}, {"dim", 1}}, kInt);
  const ValueId add =
      add_node(program, "add", "aten.add.Tensor", {{"self", mul}, {"other", 1}}, kTensor);
  program.outputs = {add};
  const StateDict weights{{"l.w", at::full({2, 3}, 2.0)}};
  set_uses(program);
  std::vector<std::string> names;
  std::map<std::string, at::Tensor> seen;
  run_program(Case{.weights = weights, .inputs = {at::full({2, 3}, 5.0)}}.with(std::move(program)),
              [&](const std::string& name, const at::Tensor& tensor) {
                names.push_back(name);
                seen[name] = tensor.clone();
              });
  EXPECT_THAT(names, ElementsAre("x", "p_w", "mul", "n", "add"));
  EXPECT_TRUE(at::equal(seen["p_w"], at::full({2, 3}, 2.0)));
  EXPECT_TRUE(at::equal(seen["mul"], at::full({2, 3}, 10.0)));
  EXPECT_TRUE(at::equal(seen["n"], at::scalar_tensor(3, at::kLong)));
  EXPECT_TRUE(at::equal(seen["add"], at::full({2, 3}, 11.0)));
}

}  // namespace
}  // namespace torch_ir
