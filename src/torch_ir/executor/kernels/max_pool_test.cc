#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/families.h"

namespace torch_ir {
namespace {

// That the results are right is for pooling_test; here it is which calls are taken.
bool takes(const at::Tensor& image, const at::Tensor& pooled) {
  using Sizes = std::vector<int64_t>;
  const KernelCall call{
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::max_pool2d_with_indices", ""),
      {image, Sizes{2, 2}, Sizes{}, Sizes{0, 0}, Sizes{1, 1}, false},
      std::vector<bool>(6, false),
      {pooled, at::empty(pooled.sizes(), at::kLong)},
      {true, false}};
  return prepare_max_pool2d_values(call) != nullptr;
}

TEST(MaxPool, TakesContiguousFloatImages) {
  EXPECT_TRUE(takes(at::empty({2, 3, 8, 8}), at::empty({2, 3, 4, 4})));
  EXPECT_TRUE(takes(at::empty({3, 8, 8}), at::empty({3, 4, 4})));
}

TEST(MaxPool, LeavesOtherDtypesAndLayouts) {
  EXPECT_FALSE(takes(at::empty({2, 3, 8, 8}, at::kDouble), at::empty({2, 3, 4, 4}, at::kDouble)));
  const auto channels_last = at::MemoryFormat::ChannelsLast;
  EXPECT_FALSE(takes(at::empty({2, 3, 8, 8}).contiguous(channels_last),
                     at::empty({2, 3, 4, 4}).contiguous(channels_last)));
  EXPECT_FALSE(takes(at::empty({0, 3, 8, 8}), at::empty({0, 3, 4, 4})));
}

}  // namespace
}  // namespace torch_ir
