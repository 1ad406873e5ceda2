#include "torch_ir/weights/seeded_tensor.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

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

TEST(SeededTensorTest, ValuesAreFixedForEverBySeedModelAndName) {
  // Computed by hand from the header's definition: they are the same on every machine.
  EXPECT_THAT(to_vector<int64_t>(seeded_tensor(0, "Model", "x", {4}, at::kLong, {0, 1000})),
              ElementsAre(25, 922, 645, 771));
  EXPECT_THAT(to_vector<float>(seeded_tensor(0, "Model", "x", {3}, at::kFloat, {-1, 1})),
              ElementsAre(-995425.f / (1 << 20), 886928.f / (1 << 20), 305234.f / (1 << 20)));
  const at::Tensor reference = seeded_tensor(0, "A", "x", {8}, at::kFloat, {-1, 1});
  EXPECT_FALSE(at::equal(reference, seeded_tensor(1, "A", "x", {8}, at::kFloat, {-1, 1})));
  EXPECT_FALSE(at::equal(reference, seeded_tensor(0, "B", "x", {8}, at::kFloat, {-1, 1})));
  EXPECT_FALSE(at::equal(reference, seeded_tensor(0, "A", "y", {8}, at::kFloat, {-1, 1})));
  // The border between the names counts.
  EXPECT_FALSE(at::equal(seeded_tensor(0, "Ab", "c", {8}, at::kFloat, {-1, 1}),
                         seeded_tensor(0, "A", "bc", {8}, at::kFloat, {-1, 1})));
}

TEST(SeededTensorTest, FillRangesOfEveryDtype) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor tensor =
        seeded_tensor(7, "Model", "x", {100, 100}, dtype, {2, 4}).to(at::kDouble);
    EXPECT_GE(tensor.min().item<double>(), 2) << dtype;
    EXPECT_LE(tensor.max().item<double>(), 4) << dtype;
    EXPECT_NEAR(tensor.mean().item<double>(), 3, 0.02) << dtype;
    // A uniform distribution of width 2 has variance 1/3.
    EXPECT_NEAR(tensor.var().item<double>(), 1.0 / 3, 0.01) << dtype;
  }
  const at::Tensor integers = seeded_tensor(7, "Model", "x", {10000}, at::kInt, {-3, 3});
  EXPECT_EQ(integers.min().item<int>(), -3);
  EXPECT_EQ(integers.max().item<int>(), 2);
  const at::Tensor bits = seeded_tensor(7, "Model", "x", {1000}, at::kBool, {0, 1});
  EXPECT_NEAR(bits.to(at::kFloat).mean().item<float>(), 0.5, 0.05);
  const at::Tensor complex = seeded_tensor(7, "Model", "x", {1000}, at::kComplexFloat, {0, 1});
  EXPECT_EQ(complex.scalar_type(), at::kComplexFloat);
  EXPECT_EQ(complex.sizes(), at::IntArrayRef({1000}));
}

TEST(SeededTensorTest, RefusesRangesThatItCanNotFill) {
  EXPECT_THAT(
      [] { seeded_tensor(0, "Model", "x", {1}, at::kFloat, {0, 1e13}); },
      ThrowsMessage<Error>(HasSubstr("model 'Model': values of 'x' have an invalid range")));
  EXPECT_THAT([] { seeded_tensor(0, "Model", "x", {1}, at::kFloat, {1, 0}); },
              ThrowsMessage<Error>(HasSubstr("empty or beyond")));
}

TEST(ValueRangeTest, DependsOnShapeAndName) {
  EXPECT_EQ(parameter_range("conv.weight", {8, 3, 1, 1}).high, 1);
  EXPECT_EQ(parameter_range("conv.weight", {8, 3, 1, 1}).low, -1);
  EXPECT_EQ(parameter_range("norm.weight", {8}).low, 0.75);
  EXPECT_EQ(parameter_range("weight", {8}).low, 0.75);
  EXPECT_EQ(parameter_range("norm.bias", {8}).high, 0.25);
  // Tensors without elements have a range, too.
  EXPECT_EQ(parameter_range("weight", {0, 0}).high, std::sqrt(3.0));
  ASSERT_TRUE(buffer_range("norm.running_var"));
  EXPECT_EQ(buffer_range("norm.running_var")->low, 0.5);
  EXPECT_EQ(buffer_range("running_mean")->low, -0.25);
  EXPECT_FALSE(buffer_range("position_ids"));
}

}  // namespace
}  // namespace torch_ir
