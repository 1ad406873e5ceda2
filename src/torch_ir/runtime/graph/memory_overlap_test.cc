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

TEST(OverlapGroups, JoinsWhatSharesMemory) {
  const at::Tensor a = matrix();
  const at::Tensor b = matrix();
  const at::Tensor same = at::from_blob(a.data_ptr(), {2}, a.options());
  const at::Tensor line = at::arange(10);
  const struct {
    std::vector<at::Tensor> tensors;
    std::vector<size_t> groups;
  } cases[] = {
      {{a.select(0, 2), b, a, a.select(0, 0)}, {0, 1, 0, 0}},
      // Neighbours do not overlap, unless a third joins them.
      {{a.narrow(0, 0, 1), a.narrow(0, 1, 2)}, {0, 1}},
      {{line.narrow(0, 0, 4), line.narrow(0, 6, 4), line.narrow(0, 3, 4)}, {0, 0, 0}},
      // By address, without a common storage.
      {{a, same}, {0, 0}},
      // Without memory.
      {{a.narrow(0, 0, 0), at::Tensor(), at::empty({0}), a, at::empty({2}, at::kMeta),
        at::empty({2}, at::kMeta)},
       {0, 1, 2, 3, 4, 5}},
  };
  for (const auto& [tensors, expected] : cases) {
    const std::vector<size_t> groups = overlap_groups(tensors);
    ASSERT_EQ(groups.size(), expected.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        EXPECT_EQ(groups[i] == groups[k], expected[i] == expected[k]) << i << " and " << k;
      }
    }
  }
}

// Also those that are not dense.
TEST(CopyGroup, CopiesATensorWithItsStrides) {
  const at::Tensor expanded = at::arange(3).view({3, 1}).expand({3, 4});
  for (const at::Tensor& tensor : {matrix().t(), expanded, matrix().select(1, 2)}) {
    const at::Tensor copy = copy_group({tensor}).at(0);
    EXPECT_TRUE(copy.equal(tensor));
    EXPECT_EQ(copy.strides(), tensor.strides());
    EXPECT_NE(copy.data_ptr(), tensor.data_ptr());
  }
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
