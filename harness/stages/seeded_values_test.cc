#include "harness/stages/seeded_values.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include "torch_ir/weights/seeded_tensor.h"

namespace torch_ir {
namespace {

TEST(SeededValuesTest, AreThoseOfTheSeedUnderTheNameOfTheModel) {
  EXPECT_TRUE(at::equal(SeededValues(3, "A").tensor("x", {8}, at::kFloat, -1, 1),
                        seeded_tensor(3, "A", "x", {8}, at::kFloat, {-1, 1})));
}

TEST(SeededValuesTest, InputsFollowTheSpec) {
  ModelSpec spec;
  spec.inputs = {{.name = "x", .shape = {1, 3}},
                 {.name = "i", .shape = {50}, .dtype = at::kLong, .low = 0, .high = 5}};
  const std::vector<at::Tensor> inputs = SeededValues(0, "Model").inputs(spec);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].sizes(), at::IntArrayRef({1, 3}));
  EXPECT_EQ(inputs[1].scalar_type(), at::kLong);
  EXPECT_EQ(inputs[1].max().item<int64_t>(), 4);
}

struct NormImpl : torch::nn::Module {
  torch::nn::Linear linear = register_module("linear", torch::nn::Linear(300, 4));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(64));
  at::Tensor scale = register_buffer("scale", at::full({4}, 2.f));
};

TEST(SeededValuesTest, WeightsKeepActivationsInRange) {
  NormImpl module;
  SeededValues(0, "Model").fill(module);
  EXPECT_LE(module.linear->weight.abs().max().item<float>(), 0.1f);
  EXPECT_NEAR(module.linear->weight.var().item<float>(), 1.0 / 300, 1e-3);
  EXPECT_LE(module.linear->bias.abs().max().item<float>(), 0.25f);
  EXPECT_GE(module.norm->weight.min().item<float>(), 0.75f);
  EXPECT_GE(module.norm->running_var.min().item<float>(), 0.5f);
  EXPECT_NE(module.norm->running_mean.abs().max().item<float>(), 0.f);
  EXPECT_EQ(module.norm->num_batches_tracked.item<int64_t>(), 0);
  EXPECT_TRUE(at::equal(module.scale, at::full({4}, 2.f)));

  NormImpl again;
  SeededValues(0, "Model").fill(again);
  EXPECT_TRUE(at::equal(module.linear->weight, again.linear->weight));
}

}  // namespace
}  // namespace torch_ir
