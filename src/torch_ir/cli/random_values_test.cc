#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/cli/execution.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/seeded_tensor.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(RandomValuesTest, InputsAreThoseOfTheHarness) {
  const IR ir = TestGraphBuilder("Tiny").input("x", {2, 3}).input("y", {}).build();
  const std::vector<at::Tensor> inputs = random_inputs("g.json", resolve(ir));
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_TRUE(
      at::equal(inputs[0], seeded_tensor(0, "Tiny", "input/x", {2, 3}, at::kFloat, {-1, 1})));
  EXPECT_EQ(inputs[1].dim(), 0);
}

TEST(RandomValuesTest, WholeNumbersAreIndicesIntoAnything) {
  IR ir = TestGraphBuilder("Tiny").input("i", {5}).build();
  ir.graph_inputs[0].dtype = "int64";
  const at::Tensor indices = random_inputs("g.json", resolve(ir)).at(0);
  EXPECT_EQ(indices.scalar_type(), at::kLong);
  EXPECT_FALSE(indices.any().item<bool>());
}

TEST(RandomValuesTest, SizesThatDifferAndNumbersAreTheUsersToChoose) {
  const auto refuses = [](const TensorMeta& input, const std::string& what) {
    IR ir;
    ir.graph_inputs = {input};
    EXPECT_THAT([&] { random_inputs("g.json", resolve(ir)); },
                ThrowsMessage<Error>("g.json: cannot generate " + what +
                                     "; give inputs with --inputs FILE.safetensors"));
  };
  refuses(dynamic("x", {"s0", "3"}), "input 'x' of dynamic shape s0x3");
  refuses(number("n"), "the number 'n'");
}

TEST(RandomValuesTest, WeightsAreThoseWithoutAValue) {
  IR ir = TestGraphBuilder("Tiny")
              .weight("p_w", "fc.weight", {4, 300})
              .weight("b_v", "norm.running_var", {8})
              .weight("b_n", "norm.num_batches_tracked", {}, "int64")
              .weight("c_m", "mask", {2})
              .weight("c_k", "known", {2})
              .build();
  ir.constants.insert("known", at::ones({2}));
  Case graph_case = Case().with(resolve(ir));
  graph_case.constants.insert("c_m", at::ones({2}));
  const StateDict weights = random_weights("g.json", graph_case);
  EXPECT_THAT(weights.keys(),
              ElementsAre("fc.weight", "norm.running_var", "norm.num_batches_tracked"));
  EXPECT_LE(weights["fc.weight"].abs().max().item<float>(), 0.1f);
  EXPECT_GE(weights["norm.running_var"].min().item<float>(), 0.5f);
  EXPECT_EQ(weights["norm.num_batches_tracked"].item<int64_t>(), 0);
}

TEST(RandomValuesTest, AreNotMoreThanFitsAMachine) {
  const int64_t huge = int64_t{1} << 62;
  for (const Shape& shape : {Shape{huge, huge, 4}, Shape{1 << 20, 1 << 20}, Shape{0, huge}}) {
    Program program;
    program.model_name = "Tiny";
    const ValueId x = program.add_value({.shape = shape, .dtype = at::kFloat, .name = "x"});
    const ValueId w = program.add_value({.shape = shape, .dtype = at::kFloat, .name = "p_w"});
    program.inputs = {{InputKind::kUserInput, x}, {InputKind::kParameter, w, "w"}};
    EXPECT_THAT([&] { random_inputs("g.json", program); },
                ThrowsMessage<Error>(
                    "g.json: cannot generate more than 134,217,728 values for 'Tiny'; give "
                    "inputs with --inputs FILE.safetensors"));
    EXPECT_THAT([&] { random_weights("g.json", Case().with(program)); },
                ThrowsMessage<Error>(HasSubstr("; give weights with --weights FILE")));
  }
}

}  // namespace
}  // namespace torch_ir
