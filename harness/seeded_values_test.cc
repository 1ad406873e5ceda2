#include "torch_ir/harness/seeded_values.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

template <class T>
std::vector<T> to_vector(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<T>(), tensor.const_data_ptr<T>() + tensor.numel()};
}

// Computed by hand from the header's definition: they are the same on every machine.
TEST(SeededValuesTest, ValuesAreFixedForEver) {
  const SeededValues values(0, "Model");
  EXPECT_THAT(to_vector<int64_t>(values.tensor("x", {4}, at::kLong, 0, 1000)),
              ElementsAre(25, 922, 645, 771));
  EXPECT_THAT(to_vector<float>(values.tensor("x", {3}, at::kFloat, -1, 1)),
              ElementsAre(-995425.f / (1 << 20), 886928.f / (1 << 20), 305234.f / (1 << 20)));
}

TEST(SeededValuesTest, DependOnSeedModelAndName) {
  const at::Tensor reference = SeededValues(0, "A").tensor("x", {8}, at::kFloat, -1, 1);
  EXPECT_TRUE(at::equal(reference, SeededValues(0, "A").tensor("x", {8}, at::kFloat, -1, 1)));
  EXPECT_FALSE(at::equal(reference, SeededValues(1, "A").tensor("x", {8}, at::kFloat, -1, 1)));
  EXPECT_FALSE(at::equal(reference, SeededValues(0, "B").tensor("x", {8}, at::kFloat, -1, 1)));
  EXPECT_FALSE(at::equal(reference, SeededValues(0, "A").tensor("y", {8}, at::kFloat, -1, 1)));
  // The border between the names counts.
  EXPECT_FALSE(at::equal(SeededValues(0, "Ab").tensor("c", {8}, at::kFloat, -1, 1),
                         SeededValues(0, "A").tensor("bc", {8}, at::kFloat, -1, 1)));
}

TEST(SeededValuesTest, FillRangesOfEveryDtype) {
  const SeededValues values(7, "Model");
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor tensor = values.tensor("x", {100, 100}, dtype, 2, 4).to(at::kDouble);
    EXPECT_GE(tensor.min().item<double>(), 2) << dtype;
    EXPECT_LE(tensor.max().item<double>(), 4) << dtype;
    EXPECT_NEAR(tensor.mean().item<double>(), 3, 0.02) << dtype;
    // A uniform distribution of width 2 has variance 1/3.
    EXPECT_NEAR(tensor.var().item<double>(), 1.0 / 3, 0.01) << dtype;
  }
  const at::Tensor integers = values.tensor("x", {10000}, at::kInt, -3, 3);
  EXPECT_EQ(integers.min().item<int>(), -3);
  EXPECT_EQ(integers.max().item<int>(), 2);
  const at::Tensor bits = values.tensor("x", {1000}, at::kBool, 0, 1);
  EXPECT_NEAR(bits.to(at::kFloat).mean().item<float>(), 0.5, 0.05);
  const at::Tensor complex = values.tensor("x", {1000}, at::kComplexFloat, 0, 1);
  EXPECT_EQ(complex.scalar_type(), at::kComplexFloat);
  EXPECT_EQ(complex.sizes(), at::IntArrayRef({1000}));
}

TEST(SeededValuesTest, RefusesRangesThatItCanNotFill) {
  EXPECT_THAT(
      [] { SeededValues(0, "Model").tensor("x", {1}, at::kFloat, 0, 1e13); },
      ThrowsMessage<Error>(HasSubstr("model 'Model': values of 'x' are asked for in a range")));
  EXPECT_THAT([] { SeededValues(0, "Model").tensor("x", {1}, at::kFloat, 1, 0); },
              ThrowsMessage<Error>(HasSubstr("empty or beyond")));
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
