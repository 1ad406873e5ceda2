#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/ir/testing/program_graphs.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

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
