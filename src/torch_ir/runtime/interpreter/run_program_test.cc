#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/testing/program_graphs.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/runtime/interpreter/node_run.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Value kTensor = {.shape = {2, 3}, .dtype = at::kFloat};
const Value kPoint = {.shape = {}, .dtype = at::kFloat};
const Value kInt = {.shape = {}, .dtype = at::kLong, .is_scalar = true};
const Value kBool = {.shape = {}, .dtype = at::kBool, .is_scalar = true};

// Adds `number` to its input.
Graph make_add(double number) {
  Graph graph;
  const ValueId a = add_input(graph, "a", kTensor);
  const ValueId add =
      add_node(graph, "add", "aten.add.Tensor", {{"self", a}, {"other", number}}, kTensor);
  graph.outputs = {add};
  return graph;
}

std::vector<at::Tensor> run(Program program, const StateDict& weights,
                            const std::vector<at::Tensor>& inputs,
                            const ValueObserver& observer = nullptr) {
  set_uses(program);
  return run_program(Case{.weights = weights, .inputs = inputs}.with(std::move(program)), observer);
}

at::Tensor run_one(const Program& program, const std::vector<at::Tensor>& inputs,
                   const StateDict& weights = StateDict()) {
  return run(program, weights, inputs).at(0);
}

TEST(RunProgram, CallsTheOperatorsInOrder) {
  Program program;
  const ValueId x = add_input(program, "x", kTensor);
  const ValueId p_w = add_input(program, "p_w", kTensor, InputKind::kParameter, "l.w");
  const ValueId mul =
      add_node(program, "mul", "aten.mul.Tensor", {{"self", x}, {"other", p_w}}, kTensor);
  // Arguments out of order, and one with its default.
  const ValueId sum = add_node(program, "sum", "aten.sum.dim_IntList",
                               {{"dim", Attribute::list({1})}, {"self", mul}}, kTensor);
  program.outputs = {sum, x};
  StateDict weights;
  weights.insert("l.w", at::full({2, 3}, 2.0));
  const at::Tensor in = at::ones({2, 3});
  const std::vector<at::Tensor> outputs = run(program, weights, {in});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_TRUE(at::equal(outputs[0], at::full({2}, 6.0)));
  EXPECT_TRUE(outputs[1].is_same(in));
}

TEST(RunProgram, WritesToCopiesThatShareMemoryAsTheirOriginalsDo) {
  Program program;
  const ValueId x = add_input(program, "x", kTensor);
  const ValueId b_row =
      add_input(program, "b_row", {.shape = {3}, .dtype = at::kFloat}, InputKind::kBuffer, "row");
  const ValueId b_all = add_input(program, "b_all", kTensor, InputKind::kBuffer, "all");
  add_node(program, "add_", "aten.add_.Tensor", {{"self", b_row}, {"other", 1.0}}, kTensor);
  add_node(program, "mul_", "aten.mul_.Tensor", {{"self", x}, {"other", 5.0}}, kTensor);
  program.outputs = {b_all, x};
  const at::Tensor all = at::zeros({2, 3});
  const at::Tensor in = at::ones({2, 3});
  StateDict weights;
  weights.insert("row", all[1]);
  weights.insert("all", all);
  for (int round = 0; round < 2; ++round) {
    const std::vector<at::Tensor> outputs = run(program, weights, {in});
    EXPECT_TRUE(at::equal(outputs[0][0], at::zeros({3})));
    EXPECT_TRUE(at::equal(outputs[0][1], at::ones({3})));
    EXPECT_TRUE(at::equal(outputs[1], at::full({2, 3}, 5.0)));
  }
  EXPECT_TRUE(at::equal(all, at::zeros({2, 3})));
  EXPECT_TRUE(at::equal(in, at::ones({2, 3})));
}

TEST(RunProgram, NumbersGoFromNodeToNode) {
  Program program;
  const ValueId x = add_input(program, "x", kTensor);
  add_input(program, "n", kInt);
  add_node(program, "size", "aten.sym_size.int", {{"self", x}, {"dim", 0}}, kInt);
  const ValueId mul = add_node(program, "mul", "_operator.mul",
                               {{"a", ValueRef{"size"}}, {"b", ValueRef{"n"}}}, kInt);
  const ValueId view =
      add_node(program, "view", "aten.view.default",
               {{"self", x}, {"size", Attribute::list({-1, ValueRef{"mul"}})}}, kTensor);
  // A number for an argument of type Tensor.
  const ValueId sub = add_node(program, "sub", "aten.sub.Tensor",
                               {{"self", view}, {"other", ValueRef{"mul"}}}, kTensor);
  program.outputs = {sub, mul};
  const std::vector<at::Tensor> outputs =
      run(program, StateDict(), {at::zeros({2, 3}), at::scalar_tensor(1, at::kLong)});
  EXPECT_TRUE(at::equal(outputs[0], at::full({3, 2}, -2.0)));
  EXPECT_TRUE(at::equal(outputs[1], at::scalar_tensor(2, at::kLong)));
}

TEST(RunProgram, ListsMayHoldNone) {
  Program program;
  const ValueId x = add_input(program, "x", kTensor);
  const ValueId i = add_input(program, "i", {.shape = {1}, .dtype = at::kLong});
  const ValueId index = add_node(program, "index", "aten.index.Tensor",
                                 {{"self", x}, {"indices", ValueList{std::nullopt, i}}}, kTensor);
  const ValueId cat =
      add_node(program, "cat", "aten.cat.default", {{"tensors", ValueList{index, index}}}, kTensor);
  program.outputs = {cat};
  const at::Tensor in = at::arange(6, at::kFloat).view({2, 3});
  EXPECT_TRUE(at::equal(run_one(program, {in, at::tensor({2}, at::kLong)}),
                        at::tensor({2.0f, 5.0f, 2.0f, 5.0f}).view({4, 1})));
}

TEST(RunProgram, OutputsThatAnOperatorLeavesOutAreLeftOut) {
  Program program;
  const ValueId x = add_input(program, "x", kTensor);
  add_node(program, "max", "aten.max.dim", {{"self", x}, {"dim", 1}}, kTensor);
  program.nodes[0].outputs.push_back(program.add_value({.shape = {2}, .dtype = at::kLong}));
  program.outputs = {program.nodes[0].outputs[1]};
  EXPECT_TRUE(
      at::equal(run_one(program, {at::arange(6, at::kFloat).view({2, 3})}), at::tensor({2, 2})));
}

// Their values are in later nodes already: sizes, dtypes, questions.
TEST(RunProgram, ResultsWithoutAnOutputAreLeftOut) {
  Program program;
  const ValueId x = add_input(program, "x", kTensor);
  const std::vector<std::pair<std::string, std::vector<Argument>>> calls = {
      {"aten.promote_types.default", {{"type1", at::kFloat}, {"type2", at::kDouble}}},
      {"aten.result_type.Scalar", {{"tensor", x}, {"other", 2}}},
      {"aten.size.int", {{"self", x}, {"dim", 0}}},
      {"aten.sym_numel.default", {{"self", x}}},
      {"aten.is_floating_point.default", {{"self", x}}},
  };
  for (const auto& [target, arguments] : calls) {
    program.nodes.push_back({.name = target, .target = target, .arguments = arguments});
  }
  program.outputs = {add_node(program, "neg", "aten.neg.default", {{"self", x}}, kTensor)};
  EXPECT_TRUE(at::equal(run_one(program, {at::ones({2, 3})}), -at::ones({2, 3})));
}

TEST(RunProgram, WritesThatASchemaDoesNotMarkGoToCopies) {
  const Value stats = {.shape = {3}, .dtype = at::kFloat};
  const at::Tensor in = at::arange(48, at::kFloat).view({2, 3, 2, 4});
  for (const std::string name : {"instance_norm", "batch_norm"}) {
    const std::string flag = name == "batch_norm" ? "training" : "use_input_stats";
    Program program;
    const ValueId x = add_input(program, "x", {.shape = {2, 3, 2, 4}, .dtype = at::kFloat});
    const ValueId mean = add_input(program, "b_mean", stats, InputKind::kBuffer, "mean");
    const ValueId var = add_input(program, "b_var", stats, InputKind::kBuffer, "var");
    add_node(program, "norm", "aten." + name + ".default",
             {{"input", x},
              {"weight", Attribute()},
              {"bias", Attribute()},
              {"running_mean", mean},
              {"running_var", var},
              {flag, true},
              {"momentum", 0.5},
              {"eps", 1e-5},
              {"cudnn_enabled", false}},
             {.shape = {2, 3, 2, 4}, .dtype = at::kFloat});
    program.outputs = {mean};
    StateDict weights;
    weights.insert("mean", at::zeros({3}));
    weights.insert("var", at::ones({3}));
    const at::Tensor expected = in.mean(at::IntArrayRef{0, 2, 3}) / 2;
    for (int round = 0; round < 2; ++round) {
      EXPECT_TRUE(at::allclose(run_one(program, {in}, weights), expected)) << name;
    }
    EXPECT_TRUE(at::equal(weights["mean"], at::zeros({3}))) << name;
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
  StateDict weights;
  weights.insert("l.w", at::full({2, 3}, 2.0));
  std::vector<std::string> names;
  std::map<std::string, at::Tensor> seen;
  run(program, weights, {at::full({2, 3}, 5.0)},
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

TEST(RunProgram, AConditionRunsOneOfItsGraphs) {
  Program program;
  const ValueId x = add_input(program, "x", kTensor);
  add_input(program, "flag", kBool);
  const ValueId cond = add_node(program, "cond", "higher_order.cond",
                                {{"pred", ValueRef{"flag"}}, {"operands", ValueList{x}}}, kTensor);
  program.nodes.back().graphs = {make_add(1), make_add(10)};
  program.outputs = {cond};
  const at::Tensor in = at::zeros({2, 3});
  EXPECT_TRUE(at::equal(run_one(program, {in, at::scalar_tensor(true, at::kBool)}), in + 1));
  EXPECT_TRUE(at::equal(run_one(program, {in, at::scalar_tensor(false, at::kBool)}), in + 10));
}

TEST(RunProgram, ALoopRunsUntilItsConditionFails) {
  Graph condition;
  const ValueId a = add_input(condition, "a", kTensor);
  const ValueId end = add_input(condition, "end", kTensor);
  const ValueId lt =
      add_node(condition, "lt", "aten.lt.Tensor", {{"self", a}, {"other", end}}, kTensor);
  condition.outputs = {lt};
  Graph body = make_add(2);
  add_input(body, "end", kTensor);

  Program program;
  const ValueId x = add_input(program, "x", kPoint);
  const ValueId limit = add_input(program, "limit", kPoint);
  const ValueId loop = add_node(
      program, "loop", "higher_order.while_loop",
      {{"carried_inputs", ValueList{x}}, {"additional_inputs", ValueList{limit}}}, kTensor);
  program.nodes.back().graphs = {condition, body};
  program.outputs = {loop};
  EXPECT_TRUE(at::equal(
      run_one(program, {at::scalar_tensor(0.0, at::kFloat), at::scalar_tensor(5.0, at::kFloat)}),
      at::scalar_tensor(6.0, at::kFloat)));
  EXPECT_TRUE(at::equal(
      run_one(program, {at::scalar_tensor(7.0, at::kFloat), at::scalar_tensor(5.0, at::kFloat)}),
      at::scalar_tensor(7.0, at::kFloat)));
}

TEST(RunProgram, RegisteredOperatorsRun) {
  register_executor("my.scale.default", [](const OpNode& node, const std::vector<at::Tensor>& in) {
    return std::vector<at::Tensor>{in.at(0) * *node.attrs.find("factor")->get_if<int64_t>()};
  });
  Program program;
  const ValueId x = add_input(program, "x", kTensor);
  const ValueId scale =
      add_node(program, "scale", "my.scale.default", {{"in", x}, {"factor", 3}}, kTensor);
  program.outputs = {scale};
  EXPECT_TRUE(at::equal(run_one(program, {at::ones({2, 3})}), at::full({2, 3}, 3.0)));
}

TEST(RunProgram, AFailureNamesItsNode) {
  const auto run = [](const std::string& target) {
    Program program;
    const ValueId x = add_input(program, "x", kTensor);
    const ValueId n =
        add_node(program, "n", target, {{"self", x}, {"size", Attribute::list({7})}}, kTensor);
    program.outputs = {n};
    run_one(program, {at::zeros({2, 3})});
  };
  EXPECT_THAT([&] { run("aten.view.default"); },
              ThrowsMessage<ExecutionError>(
                  AllOf(HasSubstr("Node 'n' (aten.view.default) failed on inputs of shape "),
                        HasSubstr("invalid for input of size 6"))));
  EXPECT_THAT([&] { run("my.own.default"); },
              ThrowsMessage<ExecutionError>(HasSubstr("load the library")));
  EXPECT_THAT([&] { run("aten.from_file.default"); },
              ThrowsMessage<ExecutionError>(
                  HasSubstr("Operator 'aten.from_file.default' of node 'n' is refused: ")));
}

}  // namespace
}  // namespace torch_ir
