#include "torch_ir/ir/strided_copy.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void expect_same(const at::Tensor& tensor) {
  const at::Tensor copy = strided_copy(tensor.contiguous(), tensor.strides());
  EXPECT_TRUE(at::equal(copy, tensor));
  EXPECT_EQ(copy.strides(), tensor.strides());
  EXPECT_FALSE(copy.is_alias_of(tensor));
}

TEST(StridedCopyTest, KeepsHowTensorsLie) {
  const at::Tensor whole = at::arange(24, at::kFloat).view({2, 3, 4});
  expect_same(whole);
  expect_same(whole.transpose(0, 2));
  expect_same(whole.slice(2, 0, 4, 2));
  expect_same(whole.slice(0, 0, 1).expand({5, 3, 4}));
  expect_same(whole.slice(1, 3, 3));
  // Elements that share memory, and elements between those of other rows.
  expect_same(whole.as_strided({4, 3}, {1, 1}));
  expect_same(whole.as_strided({2, 2}, {2, 3}));
  expect_same(at::arange(1, at::kLong).squeeze());
}

TEST(StridedCopyTest, RefusesStridesOfNoTensor) {
  const at::Tensor tensor = at::arange(6, at::kFloat).view({2, 3});
  const auto copy = [&](std::vector<int64_t> strides) {
    return [&tensor, strides] { strided_copy(tensor, strides); };
  };
  EXPECT_THAT(copy({3}), ThrowsMessage<Error>(HasSubstr("strides [3] of a tensor of shape [2, 3]: "
                                                        "expected one for each dimension")));
  EXPECT_THAT(copy({-3, 1}), ThrowsMessage<Error>(HasSubstr("negative stride")));
  for (const int64_t stride : {0, 1, 2}) {
    EXPECT_THAT(copy({stride, 1}),
                ThrowsMessage<Error>(HasSubstr("elements that share memory have different")));
  }
  // 4 bytes each: the last element begins 8 bytes before the limit, and at it.
  const int64_t far = (int64_t{1} << 30) - 3;
  // Without memory.
  const at::Tensor meta = tensor.to(at::kMeta);
  EXPECT_THAT(strided_copy(meta, {far, 1}).strides(), ElementsAre(far, 1));
  for (const int64_t too_far : {far + 1, std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(
        copy({too_far, 1}),
        ThrowsMessage<Error>(HasSubstr("they span more than the limit of 4294967296 bytes")));
  }
}

TEST(StridedCopyTest, SpecialStridesAreThoseThatShapesDoNotTell) {
  const at::Tensor whole = at::arange(24, at::kFloat).view({2, 3, 4});
  EXPECT_THAT(special_strides(whole), ::testing::IsEmpty());
  EXPECT_THAT(special_strides(whole.slice(1, 3, 3).contiguous()), ::testing::IsEmpty());
  EXPECT_THAT(special_strides(whole.transpose(1, 2)), ElementsAre(12, 1, 4));
  // Contiguous in two memory formats, between which convolutions choose by the strides.
  const at::Tensor images = at::zeros({2, 1, 3, 3}).as_strided({2, 1, 3, 3}, {9, 1, 3, 1});
  EXPECT_TRUE(images.is_contiguous());
  EXPECT_THAT(special_strides(images), ElementsAre(9, 1, 3, 1));
}

}  // namespace
}  // namespace torch_ir
