#include "torch_ir/runtime/graph/memory_overlap.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

at::Tensor matrix() { return at::arange(12, at::kFloat).view({3, 4}); }

TEST(OverlapGroups, JoinsViewsOfOneTensor) {
  const at::Tensor a = matrix();
  const at::Tensor b = matrix();
  const auto groups = overlap_groups({a.select(0, 2), b, a, a.select(0, 0)});
  EXPECT_EQ(groups[0], groups[2]);
  EXPECT_EQ(groups[2], groups[3]);
  EXPECT_NE(groups[0], groups[1]);
}

TEST(OverlapGroups, KeepsNeighboursApart) {
  const at::Tensor a = matrix();
  const auto groups = overlap_groups({a.narrow(0, 0, 1), a.narrow(0, 1, 2)});
  EXPECT_NE(groups[0], groups[1]);
}

TEST(OverlapGroups, JoinsThroughAThird) {
  const at::Tensor a = at::arange(10);
  const auto groups = overlap_groups({a.narrow(0, 0, 4), a.narrow(0, 6, 4), a.narrow(0, 3, 4)});
  EXPECT_EQ(groups[0], groups[1]);
  EXPECT_EQ(groups[1], groups[2]);
}

TEST(OverlapGroups, JoinsByAddressWithoutACommonStorage) {
  const at::Tensor a = matrix();
  const at::Tensor other = at::from_blob(a.data_ptr(), {2}, a.options());
  const auto groups = overlap_groups({a, other});
  EXPECT_EQ(groups[0], groups[1]);
}

TEST(OverlapGroups, KeepsApartWhatHasNoMemory) {
  const at::Tensor a = matrix();
  const auto groups = overlap_groups({a.narrow(0, 0, 0), at::Tensor(), at::empty({0}), a,
                                      at::empty({2}, at::kMeta), at::empty({2}, at::kMeta)});
  for (size_t i = 0; i < groups.size(); ++i) EXPECT_EQ(groups[i], i);
}

TEST(CopyGroup, CopiesATensorWithItsStrides) {
  const at::Tensor a = matrix().t();
  const at::Tensor copy = copy_group({a}).at(0);
  EXPECT_TRUE(copy.equal(a));
  EXPECT_EQ(copy.strides(), a.strides());
  EXPECT_NE(copy.data_ptr(), a.data_ptr());
}

TEST(CopyGroup, KeepsWhatIsNotDense) {
  const at::Tensor expanded = at::arange(3).view({3, 1}).expand({3, 4});
  const at::Tensor copy = copy_group({expanded}).at(0);
  EXPECT_TRUE(copy.equal(expanded));
  EXPECT_EQ(copy.strides(), expanded.strides());
  const at::Tensor column = matrix().select(1, 2);
  EXPECT_EQ(copy_group({column}).at(0).strides(), column.strides());
}

TEST(CopyGroup, KeepsSharedMemoryShared) {
  const at::Tensor a = matrix();
  const at::Tensor bytes = a.view(at::kByte).select(0, 1);
  const auto copies = copy_group({a.select(0, 1), a, bytes});
  EXPECT_TRUE(copies[0].equal(a.select(0, 1)));
  EXPECT_TRUE(copies[1].equal(a));
  EXPECT_TRUE(copies[2].equal(bytes));
  copies[1].zero_();
  EXPECT_TRUE(copies[0].equal(at::zeros({4})));
  EXPECT_TRUE(copies[2].equal(at::zeros({16}, at::kByte)));
  EXPECT_EQ(a[1][0].item<float>(), 4) << "the original is as it was";
}

TEST(CopyGroup, KeepsLazyConjugation) {
  const at::Tensor a = at::complex(at::arange(4, at::kFloat), at::arange(4, at::kFloat));
  const auto copies = copy_group({a, a.conj()});
  EXPECT_TRUE(copies[1].is_conj());
  EXPECT_TRUE(copies[1].equal(a.conj()));
}

TEST(CopyGroup, KeepsTheAlignmentOfTheOriginals) {
  const at::Tensor a = at::arange(64, at::kFloat);
  const at::Tensor b = a.narrow(0, 3, 20);
  const auto copies = copy_group({b, a.narrow(0, 5, 30)});
  const auto alignment = [](const at::Tensor& tensor) {
    return reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 64;
  };
  EXPECT_EQ(alignment(copies[0]), alignment(b));
}

TEST(CopyGroup, RefusesUnalignedTensorsThatShareMemory) {
  at::Tensor bytes = at::zeros({64}, at::kByte);
  const at::Tensor odd =
      at::from_blob(static_cast<char*>(bytes.data_ptr()) + 1, {4}, at::TensorOptions(at::kFloat));
  EXPECT_THAT([&] { copy_group({bytes, odd}); },
              ThrowsMessage<ExecutionError>(HasSubstr("not aligned to its dtype")));
  EXPECT_TRUE(copy_group({odd}).at(0).equal(odd));
}

}  // namespace
}  // namespace torch_ir
