#include "harness/stages/trials.h"

#include <gmock/gmock.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include <limits>
#include <set>

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSubsetOf;

constexpr int kZerosAndOnes = 1;
constexpr int kLargeMagnitudes = 2;
constexpr int kNormalAgain = 3;

at::Tensor values(int trial, const at::Tensor& normal, std::optional<ValueRange> range = {},
                  uint64_t seed = 0) {
  return trial_values(trial, {.name = "x", .normal = normal, .range = range}, seed, "Model");
}

std::set<double> distinct(const at::Tensor& tensor) {
  const at::Tensor doubles = tensor.to(at::kDouble).contiguous();
  const double* data = doubles.const_data_ptr<double>();
  return {data, data + doubles.numel()};
}

TEST(TrialsTest, FloatsAreZerosAndOnesThenLargeThenNormalAgain) {
  const at::Tensor normal = at::full({40, 50}, 0.5);
  const ValueRange range{-1, 3};
  EXPECT_TRUE(values(0, normal, range).is_same(normal));
  EXPECT_THAT(distinct(values(kZerosAndOnes, normal, range)), ElementsAre(0, 1));

  const std::set<double> large = distinct(values(kLargeMagnitudes, normal, range));
  EXPECT_GE(*large.begin(), -1000);
  EXPECT_LT(*large.begin(), -900);
  EXPECT_LT(*large.rbegin(), 3000);
  EXPECT_GT(*large.rbegin(), 2900);

  const std::set<double> again = distinct(values(kNormalAgain, normal, range));
  EXPECT_GT(again.size(), 1000u);
  EXPECT_GE(*again.begin(), -1);
  EXPECT_LT(*again.rbegin(), 3);
  const at::Tensor drawn = values(kNormalAgain, normal, range);
  EXPECT_TRUE(drawn.equal(values(kNormalAgain, normal, range)));
  EXPECT_FALSE(drawn.equal(values(kNormalAgain + 1, normal, range)));
  EXPECT_FALSE(drawn.equal(values(kNormalAgain, normal, range, 1))) << "another seed";
}

TEST(TrialsTest, WholeNumbersNeverLeaveTheirRange) {
  const at::Tensor normal = at::full({100}, 7, at::kLong);
  const ValueRange indices{5, 12};
  EXPECT_THAT(distinct(values(kZerosAndOnes, normal, indices)), ElementsAre(5));
  EXPECT_THAT(distinct(values(kLargeMagnitudes, normal, indices)), ElementsAre(5, 11));
  EXPECT_THAT(distinct(values(kNormalAgain, normal, indices)),
              IsSubsetOf(std::vector<double>{5, 6, 7, 8, 9, 10, 11}));

  const ValueRange vocabulary{0, 1000};
  EXPECT_THAT(distinct(values(kZerosAndOnes, normal, vocabulary)), ElementsAre(0, 1));
  EXPECT_THAT(distinct(values(kLargeMagnitudes, normal, vocabulary)), ElementsAre(0, 999));

  const ValueRange negative{-9, -3};
  EXPECT_THAT(distinct(values(kZerosAndOnes, normal, negative)), ElementsAre(-4));
}

TEST(TrialsTest, WholeNumbersOfAnUnknownRangeStayWhereTheyAreNotNormal) {
  const at::Tensor ids = at::tensor({7, 3, 9, 3, 5, 4}, at::kInt).view({2, 3});
  EXPECT_TRUE(values(kZerosAndOnes, ids).equal(ids));
  EXPECT_TRUE(values(kLargeMagnitudes, ids).equal(ids));
  const at::Tensor others = values(kNormalAgain, ids);
  EXPECT_FALSE(others.equal(ids));
  EXPECT_EQ(others.scalar_type(), at::kInt);
  EXPECT_THAT(distinct(others), IsSubsetOf(std::vector<double>{3, 4, 5, 6, 7, 8, 9}));
  // Equal ones stay equal, others do not become it.
  EXPECT_EQ(distinct(others).size(), 5u);
  EXPECT_EQ(others[0][1].item<int>(), others[1][0].item<int>());
  // Floats do not.
  EXPECT_THAT(distinct(values(kZerosAndOnes, at::full({100}, 0.5))), ElementsAre(0, 1));
  EXPECT_GT(*distinct(values(kLargeMagnitudes, at::full({100}, 0.5))).rbegin(), 900);
}

TEST(TrialsTest, MasksAndNumbersInOrderStay) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  for (const at::Tensor& stays :
       {at::full({3}, true, at::kBool), at::tensor({0, 1, 1, 0}, at::kLong).view({2, 2}),
        at::full({2, 3}, 7, at::kLong), at::tensor({0, 2, 2, 6}, at::kLong),
        at::tensor({5, 3, 3}, at::kLong), at::empty({0}, at::kLong),
        at::tensor({-most, most, int64_t{0}}, at::kLong).view({1, 3})}) {
    EXPECT_TRUE(values(kNormalAgain, stays).equal(stays)) << stays;
  }
}

TEST(TrialsTest, WithTheSameInputsDoNotHappen) {
  const auto names_of = [](const std::vector<TrialInputs>& trials) {
    std::vector<std::string> names;
    for (const TrialInputs& trial : trials) names.push_back(trial.name);
    return names;
  };
  const TrialInput ids{.name = "ids", .normal = at::tensor({7, 3, 900, 4}, at::kLong).view({1, 4})};
  const TrialInput mask{.name = "mask", .normal = at::ones({1, 4}, at::kLong)};
  const TrialInput x{.name = "x", .normal = at::full({4}, 0.5)};
  EXPECT_THAT(names_of(value_trials(2, {ids, mask}, 0, "Model")),
              ElementsAre("normal values 2", "normal values 3"));
  EXPECT_THAT(names_of(value_trials(3, {ids, x}, 0, "Model")),
              ElementsAre("zeros and ones", "large magnitudes", "normal values 2"));
  EXPECT_THAT(names_of(value_trials(2, {mask}, 0, "Model")), ElementsAre("further values"));
  EXPECT_THAT(names_of(value_trials(2, {}, 0, "Model")), ElementsAre());
}

TEST(TrialsTest, KeepShapeAndDtypeAndStayFinite) {
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kLong,
                                     at::kByte, at::kBool, at::kComplexFloat}) {
    const at::Tensor normal = at::empty({2, 3}, at::TensorOptions(dtype)).zero_();
    for (const int trial : {kZerosAndOnes, kLargeMagnitudes, kNormalAgain}) {
      const at::Tensor tensor = values(trial, normal, ValueRange{0, 4});
      EXPECT_EQ(tensor.sizes(), normal.sizes()) << dtype;
      EXPECT_EQ(tensor.scalar_type(), dtype);
    }
  }
  const at::Tensor halves = at::full({1000}, 0.5, at::kHalf);
  const std::set<double> large = distinct(values(kLargeMagnitudes, halves, ValueRange{-500, 500}));
  EXPECT_GT(*large.rbegin(), 5e4);
  EXPECT_LE(*large.rbegin(), 65504);
}

TEST(TrialsTest, AMessageSaysInItsFirstLineWhichInputsItTook) {
  EXPECT_EQ(with_trial("It differs.", ""), "It differs.");
  EXPECT_EQ(with_trial("It differs.", trial_name(1)), "It differs (with zeros and ones).");
  EXPECT_EQ(with_trial("index 7\nof 3", trial_name(2)), "index 7 (with large magnitudes)\nof 3");
  EXPECT_EQ(with_trial("", trial_name(2)), " (with large magnitudes)");
}

TEST(SeededValuesTest, InputsFollowTheSpec) {
  ModelSpec spec;
  spec.inputs = {{.name = "x", .shape = {1, 3}},
                 {.name = "i", .shape = {50}, .dtype = at::kLong, .low = 0, .high = 5}};
  const std::vector<at::Tensor> inputs = seeded_inputs(spec, 0, "Model");
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
  fill_weights(module, 0, "Model");
  EXPECT_LE(module.linear->weight.abs().max().item<float>(), 0.1f);
  EXPECT_NEAR(module.linear->weight.var().item<float>(), 1.0 / 300, 1e-3);
  EXPECT_LE(module.linear->bias.abs().max().item<float>(), 0.25f);
  EXPECT_GE(module.norm->weight.min().item<float>(), 0.75f);
  EXPECT_GE(module.norm->running_var.min().item<float>(), 0.5f);
  EXPECT_NE(module.norm->running_mean.abs().max().item<float>(), 0.f);
  EXPECT_EQ(module.norm->num_batches_tracked.item<int64_t>(), 0);
  EXPECT_TRUE(at::equal(module.scale, at::full({4}, 2.f)));

  NormImpl again;
  fill_weights(again, 0, "Model");
  EXPECT_TRUE(at::equal(module.linear->weight, again.linear->weight));
}

}  // namespace
}  // namespace torch_ir
