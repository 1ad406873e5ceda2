#include "harness/stages/eager_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/operators/executor_registry.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const ValueMeta kTensor = {.shape = {2, 3}, .dtype = at::kFloat};
const ValueMeta kInt = {.shape = {}, .dtype = at::kLong, .is_scalar = true};
const ValueMeta kBool = {.shape = {}, .dtype = at::kBool, .is_scalar = true};

ExportedArgument value(const std::string& name, const std::string& ref) {
  return {.name = name, .value = ValueRef{ref}};
}

ExportedArgument attribute(const std::string& name, Attribute attribute) {
  return {.name = name, .value = std::move(attribute)};
}

ExportedArgument values(const std::string& name, const ValueList& refs) {
  return {.name = name, .value = refs};
}

void add_input(ExportedGraph& graph, const std::string& name, const ValueMeta& meta = kTensor) {
  graph.inputs.push_back({.kind = InputKind::kUserInput, .name = name, .target = ""});
  graph.values.emplace(name, meta);
}

// A node of one output, named alike.
void add_node(ExportedGraph& graph, const std::string& name, const std::string& target,
              std::vector<ExportedArgument> arguments, const ValueMeta& meta = kTensor) {
  graph.nodes.push_back(
      {.name = name, .target = target, .arguments = std::move(arguments), .outputs = {name}});
  graph.values.emplace(name, meta);
}

// Adds `number` to its input.
ExportedGraph make_add(double number) {
  ExportedGraph graph;
  add_input(graph, "a");
  add_node(graph, "add", "aten.add.Tensor", {value("self", "a"), attribute("other", number)});
  graph.outputs = {"add"};
  return graph;
}

at::Tensor run_one(const ExportedProgram& program, const std::vector<at::Tensor>& inputs,
                   const StateDict& weights = StateDict()) {
  return run_program(program, weights, inputs).at(0);
}

TEST(EagerProgramTest, CallsTheOperatorsInOrder) {
  ExportedProgram program;
  add_input(program, "x");
  program.inputs.push_back({.kind = InputKind::kParameter, .name = "p_w", .target = "l.w"});
  program.values.emplace("p_w", kTensor);
  add_node(program, "mul", "aten.mul.Tensor", {value("self", "x"), value("other", "p_w")});
  // Out of order, with one at its default.
  add_node(program, "sum", "aten.sum.dim_IntList",
           {attribute("dim", Attribute::list({1})), value("self", "mul")});
  program.outputs = {"sum", "x"};
  StateDict weights;
  weights.insert("l.w", at::full({2, 3}, 2.0));
  const at::Tensor x = at::ones({2, 3});
  const std::vector<at::Tensor> outputs = run_program(program, weights, {x});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_TRUE(at::equal(outputs[0], at::full({2}, 6.0)));
  EXPECT_TRUE(outputs[1].is_same(x));
}

TEST(EagerProgramTest, WritesToCopiesThatShareMemoryAsTheirOriginalsDo) {
  ExportedProgram program;
  add_input(program, "x");
  program.inputs.push_back({.kind = InputKind::kBuffer, .name = "b_row", .target = "row"});
  program.inputs.push_back({.kind = InputKind::kBuffer, .name = "b_all", .target = "all"});
  program.values.emplace("b_row", ValueMeta{.shape = {3}, .dtype = at::kFloat});
  program.values.emplace("b_all", kTensor);
  add_node(program, "add_", "aten.add_.Tensor", {value("self", "b_row"), attribute("other", 1.0)});
  add_node(program, "mul_", "aten.mul_.Tensor", {value("self", "x"), attribute("other", 5.0)});
  program.outputs = {"b_all", "x"};
  const at::Tensor all = at::zeros({2, 3});
  const at::Tensor x = at::ones({2, 3});
  StateDict weights;
  weights.insert("row", all[1]);
  weights.insert("all", all);
  for (int run = 0; run < 2; ++run) {
    const std::vector<at::Tensor> outputs = run_program(program, weights, {x});
    EXPECT_TRUE(at::equal(outputs[0][0], at::zeros({3})));
    EXPECT_TRUE(at::equal(outputs[0][1], at::ones({3})));
    EXPECT_TRUE(at::equal(outputs[1], at::full({2, 3}, 5.0)));
  }
  EXPECT_TRUE(at::equal(all, at::zeros({2, 3})));
  EXPECT_TRUE(at::equal(x, at::ones({2, 3})));
}

TEST(EagerProgramTest, NumbersGoFromNodeToNode) {
  ExportedProgram program;
  add_input(program, "x");
  add_input(program, "n", kInt);
  add_node(program, "size", "aten.sym_size.int", {value("self", "x"), attribute("dim", 0)}, kInt);
  add_node(program, "mul", "_operator.mul",
           {attribute("a", ValueRef{"size"}), attribute("b", ValueRef{"n"})}, kInt);
  add_node(program, "view", "aten.view.default",
           {value("self", "x"), attribute("size", Attribute::list({-1, ValueRef{"mul"}}))});
  // Where the schema says Tensor.
  add_node(program, "sub", "aten.sub.Tensor",
           {value("self", "view"), attribute("other", ValueRef{"mul"})});
  program.outputs = {"sub", "mul"};
  const std::vector<at::Tensor> outputs =
      run_program(program, StateDict(), {at::zeros({2, 3}), at::scalar_tensor(1, at::kLong)});
  EXPECT_TRUE(at::equal(outputs[0], at::full({3, 2}, -2.0)));
  EXPECT_TRUE(at::equal(outputs[1], at::scalar_tensor(2, at::kLong)));
}

TEST(EagerProgramTest, ListsMayHoldNone) {
  ExportedProgram program;
  add_input(program, "x");
  add_input(program, "i", {.shape = {1}, .dtype = at::kLong});
  add_node(program, "index", "aten.index.Tensor",
           {value("self", "x"), values("indices", {std::nullopt, ValueRef{"i"}})});
  add_node(program, "cat", "aten.cat.default",
           {values("tensors", {ValueRef{"index"}, ValueRef{"index"}})});
  program.outputs = {"cat"};
  const at::Tensor x = at::arange(6).view({2, 3});
  EXPECT_TRUE(
      at::equal(run_one(program, {x, at::tensor({2})}), at::tensor({2, 5, 2, 5}).view({4, 1})));
}

TEST(EagerProgramTest, OutputsThatAnOperatorLeavesOutAreLeftOut) {
  ExportedProgram program;
  add_input(program, "x");
  program.nodes.push_back({.name = "max",
                           .target = "aten.max.dim",
                           .arguments = {value("self", "x"), attribute("dim", 1)},
                           .outputs = {"getitem", "getitem_1"}});
  program.values.emplace("getitem_1", ValueMeta{.shape = {2}, .dtype = at::kLong});
  program.outputs = {"getitem_1"};
  EXPECT_TRUE(at::equal(run_one(program, {at::arange(6).view({2, 3})}), at::tensor({2, 2})));
}

TEST(EagerProgramTest, AnObserverIsToldOfEveryValueInOrder) {
  ExportedProgram program;
  add_input(program, "x");
  program.inputs.push_back({.kind = InputKind::kParameter, .name = "p_w", .target = "l.w"});
  program.values.emplace("p_w", kTensor);
  add_node(program, "mul", "aten.mul.Tensor", {value("self", "x"), value("other", "p_w")});
  add_node(program, "n", "aten.sym_size.int", {value("self", "mul"), attribute("dim", 1)}, kInt);
  add_node(program, "add", "aten.add.Tensor", {value("self", "mul"), attribute("other", 1)});
  program.outputs = {"add"};
  StateDict weights;
  weights.insert("l.w", at::full({2, 3}, 2.0));
  std::vector<std::string> names;
  std::map<std::string, at::Tensor> seen;
  run_program(program, weights, {at::full({2, 3}, 5.0)},
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

TEST(EagerProgramTest, AConditionRunsOneOfItsGraphs) {
  ExportedProgram program;
  add_input(program, "x");
  add_input(program, "flag", kBool);
  add_node(program, "cond", "higher_order.cond",
           {attribute("pred", ValueRef{"flag"}), values("operands", {ValueRef{"x"}})});
  program.nodes.back().graphs = {make_add(1), make_add(10)};
  program.outputs = {"cond"};
  const at::Tensor x = at::zeros({2, 3});
  EXPECT_TRUE(at::equal(run_one(program, {x, at::scalar_tensor(true, at::kBool)}), x + 1));
  EXPECT_TRUE(at::equal(run_one(program, {x, at::scalar_tensor(false, at::kBool)}), x + 10));
}

TEST(EagerProgramTest, ALoopRunsUntilItsConditionFails) {
  ExportedGraph condition;
  add_input(condition, "a");
  add_input(condition, "limit");
  add_node(condition, "lt", "aten.lt.Tensor", {value("self", "a"), value("other", "limit")});
  condition.outputs = {"lt"};
  ExportedGraph body = make_add(2);
  add_input(body, "limit");

  ExportedProgram program;
  add_input(program, "x");
  add_input(program, "limit");
  add_node(program, "loop", "higher_order.while_loop",
           {values("carried_inputs", {ValueRef{"x"}}),
            values("additional_inputs", {ValueRef{"limit"}})});
  program.nodes.back().graphs = {condition, body};
  program.outputs = {"loop"};
  EXPECT_TRUE(at::equal(
      run_one(program, {at::scalar_tensor(0.0, at::kFloat), at::scalar_tensor(5.0, at::kFloat)}),
      at::scalar_tensor(6.0, at::kFloat)));
  EXPECT_TRUE(at::equal(
      run_one(program, {at::scalar_tensor(7.0, at::kFloat), at::scalar_tensor(5.0, at::kFloat)}),
      at::scalar_tensor(7.0, at::kFloat)));
}

TEST(EagerProgramTest, RegisteredOperatorsRun) {
  register_executor("my.scale.default", [](const OpNode& node, const std::vector<at::Tensor>& in) {
    return std::vector<at::Tensor>{in.at(0) * *node.attrs.find("factor")->get_if<int64_t>()};
  });
  ExportedProgram program;
  add_input(program, "x");
  add_node(program, "scale", "my.scale.default", {value("in", "x"), attribute("factor", 3)});
  program.outputs = {"scale"};
  EXPECT_TRUE(at::equal(run_one(program, {at::ones({2, 3})}), at::full({2, 3}, 3.0)));
}

TEST(EagerProgramTest, AFailureNamesItsNode) {
  const auto run = [](const std::string& target) {
    ExportedProgram program;
    add_input(program, "x");
    add_node(program, "n", target, {value("self", "x"), attribute("size", Attribute::list({7}))});
    program.outputs = {"n"};
    run_one(program, {at::zeros({2, 3})});
  };
  EXPECT_THAT([&] { run("aten.view.default"); },
              ThrowsMessage<ExecutionError>(
                  AllOf(HasSubstr("Node 'n' (aten.view.default) failed in the reference: "),
                        HasSubstr("invalid for input of size 6"))));
  EXPECT_THAT([&] { run("my.own.default"); },
              ThrowsMessage<ExecutionError>(HasSubstr("this LibTorch has no such operator")));
  EXPECT_THAT([&] { run("aten.from_file.default"); },
              ThrowsMessage<ExecutionError>(HasSubstr("the operator is refused: ")));
}

}  // namespace
}  // namespace torch_ir
